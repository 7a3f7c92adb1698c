// Child processes.
import ts from "typescript"
import { argumentTexts, calleeOf } from "./nodes.mjs"

const module = "@effect/platform/Command"

const settings = {
  env: (text) => `env: ${text}, extendEnv: true`,
  stderr: (text) => `stderr: ${text}`,
  stdin: (text) => `stdin: ${text}`,
  stdout: (text) => `stdout: ${text}`,
  workingDirectory: (text) => `cwd: ${text}`
}

const settingOf = (node, file) => {
  const [of, name] = (calleeOf(node, file) ?? "").split("#")
  return of === module && Object.hasOwn(settings, name) && node.arguments.length === 1
    ? settings[name](argumentTexts(node, file)[0])
    : undefined
}

const commandText = (node, options, file) => {
  const [program, ...given] = argumentTexts(node, file)
  const parts = [program, `[${given.join(", ")}]`, ...(options.length === 0 ? [] : [`{ ${options.join(", ")} }`])]
  return `${file.local("effect/process/ChildProcess")}.make(${parts.join(", ")})`
}

/** `Command.make(program, ...arguments)` takes the arguments as a list, and its settings besides. */
const command = (node, file) => {
  if (calleeOf(node, file) === `${module}#make`) return commandText(node, [], file)
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined
  const { expression, name } = node.expression
  if (name.text !== "pipe" || calleeOf(expression, file) !== `${module}#make`) return undefined
  const texts = node.arguments.map((argument) => settingOf(argument, file))
  const options = texts.filter((text) => text !== undefined)
  const rest = node.arguments.filter((_, at) => texts[at] === undefined).map((argument) => file.emit(argument))
  const made = commandText(expression, options, file)
  return rest.length === 0 ? made : `${made}.pipe(${rest.join(", ")})`
}

/** What a command prints is asked of a service. */
const printed = (node, file) => {
  const isCalled = ts.isCallExpression(node.parent) && node.parent.expression === node
  if (isCalled || file.memberOf(node) !== `${module}#string`) return undefined
  const spawner = `${file.local("effect/process/ChildProcessSpawner")}.ChildProcessSpawner`
  const type = `${file.local("effect/process/ChildProcess")}.Command`
  const read = `${file.local("effect/Effect")}.flatMap(${spawner}, (spawner) => spawner.string(command))`
  return `(command: ${type}) => ${read}`
}

export const processes = [command, printed]
