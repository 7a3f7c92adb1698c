import { redirect } from "next/navigation"
import { advisor } from "./advisor.js"

export const dynamic = "force-dynamic"

const save = async (data) => {
  "use server"
  const { results } = await advisor().search(String(data.get("term")))
  redirect(`/?saved=${results.length}`)
}

const Page = async ({ searchParams }) => {
  const { saved } = await searchParams
  const { results } = await advisor().search("oats")
  return (
    <main>
      <form action={save}>
        <input name="term" />
      </form>
      {results.map(({ name }) => <p key={name}>{name}</p>)}
      {saved && <p>{`saved ${saved}`}</p>}
    </main>
  )
}

export { Page as default }
