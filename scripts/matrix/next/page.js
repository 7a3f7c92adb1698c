import { advisor } from "./advisor.js"

export const dynamic = "force-dynamic"

const save = async (data) => {
  "use server"
  await advisor().search(String(data.get("term")))
}

const Page = async () => {
  const { results } = await advisor().search("oats")
  return (
    <main>
      <form action={save}>
        <input name="term" />
      </form>
      {results.map(({ name }) => <p key={name}>{name}</p>)}
    </main>
  )
}

export { Page as default }
