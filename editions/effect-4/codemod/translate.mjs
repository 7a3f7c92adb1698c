// Translates one TypeScript source from Effect 3.22 to Effect 4: imports, renamed members, and expressions that have another form.
import { dirname, relative } from "node:path/posix"
import ts from "typescript"
import { calls } from "./calls.mjs"
import { exportsOf } from "./exports.mjs"
import { rules } from "./nodes.mjs"
import { effect3, memberOf4, moduleOf4, nestedTypes, properties } from "./renames.mjs"

const isEffectModule = (name) => /^(effect|@effect\/[a-z-]+)(\/|$)/.test(name)

/** A capitalized name from an index module is a namespace: `Effect` of "effect" is "effect/Effect". */
const isNamespace = (module, name) => /^(effect|@effect\/(?!vitest)[a-z-]+)$/.test(module) && /^[A-Z]/.test(name)

const lifts = { Left: "fromResult", Right: "fromResult", None: "fromOption", Some: "fromOption" }

export class File {
  /** `checker` knows the types, and is undefined if the source isn't part of a program. */
  constructor(name, source, checker) {
    Object.assign(this, { name, source, checker })
    /** Maps each local name to its meaning: "effect/Effect" for a namespace, "effect/Function#pipe" for a value. */
    this.names = new Map()
    this.problems = []
    /** Maps the local names of namespaces that the translation needs to their modules. */
    this.needed = new Map()
    for (const { importClause, moduleSpecifier } of this.source.statements.filter(ts.isImportDeclaration)) {
      const module = moduleSpecifier.text
      const bindings = importClause?.namedBindings
      if (bindings === undefined || !isEffectModule(module)) continue
      if (ts.isNamespaceImport(bindings)) this.names.set(bindings.name.text, module)
      for (const { name, propertyName } of bindings.elements ?? []) {
        const imported = (propertyName ?? name).text
        this.names.set(name.text, `${module}${isNamespace(module, imported) ? "/" : "#"}${imported}`)
      }
    }
  }

  /** Returns the local name of a module of Effect 4, and imports it if necessary. */
  local(module) {
    const [known] = [...this.names].find(([, of]) => moduleOf4(of) === module) ?? []
    const name = known ??
      module.split("/").at(-1).replace(/\.js$/, "").replace(/(?:^|-)(.)/g, (_, letter) => letter.toUpperCase())
    this.needed.set(name, module)
    return name
  }

  /** A code block of a document isn't part of a program, and can't import `effect3`. */
  get isSnippet() {
    return this.checker === undefined
  }

  problem(node, what) {
    const { line } = this.source.getLineAndCharacterOfPosition(node.getStart())
    this.problems.push(`${this.name}:${line + 1}: ${what}`)
  }

  /** Returns "effect/Effect#catchAll", for example, if the node is a member of an imported namespace. */
  memberOf(node) {
    const [left, right] = ts.isPropertyAccessExpression(node)
      ? [node.expression, node.name]
      : ts.isQualifiedName(node)
      ? [node.left, node.right]
      : []
    if (left === undefined) return ts.isIdentifier(node) ? this.valueOf(node) : undefined
    const namespace = ts.isIdentifier(left) ? this.names.get(left.text) : undefined
    return namespace === undefined || namespace.includes("#") ? undefined : `${namespace}#${right.text}`
  }

  /** Returns "effect/Function#pipe", for example, if the node is a value that is imported by name. */
  valueOf(node) {
    const isName = ts.isPropertyAccessExpression(node.parent) && node.parent.name === node
    const value = isName || ts.isImportSpecifier(node.parent) ? undefined : this.names.get(node.text)
    return value?.includes("#") ? value : undefined
  }

  calleeOf(node) {
    return node !== undefined && (ts.isCallExpression(node) || ts.isNewExpression(node))
      ? this.memberOf(node.expression)
      : undefined
  }

  emit(node) {
    const text = this.replace(node) ?? this.emitParts(node)
    const lift = !this.isSnippet && ts.isExpression(node) && this.liftOf(node)
    return lift ? `${this.local("effect/Effect")}.${lift}(${text})` : text
  }

  /** In Effect 4, Either and Option aren't Effects. Returns the function that converts one if an Effect is expected or yielded. */
  liftOf(node) {
    const asked = ts.isYieldExpression(node.parent)
      ? this.calleeOf(ts.findAncestor(node, ts.isFunctionExpression)?.parent)
      : this.checker.getContextualType(node)?.getSymbol()?.name
    if (asked !== "effect/Effect#gen" && asked !== "Effect" || ts.isConditionalExpression(node)) return undefined
    const type = this.checker.getTypeAtLocation(node)
    return lifts[(type.types?.[0] ?? type).getSymbol()?.name]
  }

  emitAll(nodes) {
    return (nodes ?? []).map((node) => this.emit(node))
  }

  types({ typeArguments }) {
    return typeArguments === undefined ? "" : `<${this.emitAll(typeArguments).join(", ")}>`
  }

  /** Translates the parts of a node, and inserts `added` at the position `addedAt` of the source. */
  emitParts(node, added = "", addedAt = -1) {
    const { text: source } = this.source
    const between = (from, to) =>
      from <= addedAt && addedAt <= to
        ? source.slice(from, addedAt) + added + source.slice(addedAt, to)
        : source.slice(from, to)
    let text = ""
    let at = node.getStart()
    ts.forEachChild(node, (child) => {
      if (child.end <= at) return
      text += between(at, child.getStart()) + this.emit(child)
      at = child.end
    })
    return text + between(at, node.end)
  }

  replace(node) {
    const call = calls[this.calleeOf(node)]
    const called = call?.(new Call(node, this))
    if (called !== undefined) return called
    for (const rule of rules) {
      const text = rule(node, this)
      if (text !== undefined) return text
    }
    const nested = ts.isQualifiedName(node) ? nestedTypes[`${this.memberOf(node.left)}.${node.right.text}`] : undefined
    if (nested !== undefined) return `${node.left.left.text}.${nested}`
    const member = ts.isImportSpecifier(node) ? undefined : this.memberOf(node)
    if (member !== undefined) return this.renamed(node, member)
    return ts.isIdentifier(node) && isOwnName(node) ? properties[node.text] : undefined
  }

  renamed(node, member) {
    const [from, member3] = member.split("#")
    const [module, name] = this.isSnippet && memberOf4(member).startsWith(effect3)
      ? [moduleOf4(from), member3]
      : memberOf4(member).split("#")
    if (module === effect3) return `${this.local(this.pathTo(effect3))}.${name}`
    if (module.startsWith("effect/") && exportsOf(module)?.has(name) !== true) {
      this.problem(node, `Effect 4 has no ${module}.${name}`)
    }
    if (ts.isIdentifier(node)) {
      return member === `${from}#${name}` && module === moduleOf4(from)
        ? undefined
        : `${this.local(module)}.${name}`
    }
    const namespace = (node.expression ?? node.left).getText()
    return `${module === moduleOf4(from) ? namespace : this.local(module)}.${name}`
  }

  pathTo(path) {
    return relative(dirname(this.name), path).replace(/^(?!\.)/, "./")
  }

  /** Returns the import statements for Effect's modules in Effect 4. Modules that it doesn't have are left out. */
  imports() {
    const lines = []
    for (const statement of this.source.statements.filter(ts.isImportDeclaration)) {
      const { isTypeOnly = false, namedBindings } = statement.importClause ?? {}
      if (namedBindings === undefined || !isEffectModule(statement.moduleSpecifier.text)) {
        lines.push(statement.getText())
        continue
      }
      const groups = new Map()
      for (const { isTypeOnly: isType, name: { text: name } } of namedBindings.elements ?? [namedBindings]) {
        const [module, value] = this.names.get(name).split("#")
        const to = moduleOf4(module)
        const isMoved = value !== undefined && memberOf4(`${module}#${value}`) !== `${to}#${value}`
        if (isMoved || to.startsWith("effect/") && exportsOf(to) === undefined) continue
        const type = (isTypeOnly || isType) && this.needed.get(name) !== to ? "type " : ""
        this.needed.delete(name)
        const [, barrel, last] = /^(.*)\/(\w+)$/.exec(to) ?? []
        if (value !== undefined) {
          groups.set(to, [...groups.get(to) ?? [], `${type}${value === name ? "" : `${value} as `}${name}`])
        } else if (namedBindings.elements !== undefined && last === name && exportsOf(barrel)?.has(last)) {
          groups.set(barrel, [...groups.get(barrel) ?? [], `${type}${name}`])
        } else lines.push(`import ${type}* as ${name} from "${to}"`)
      }
      for (const [module, names] of groups) {
        const all = names.join(", ")
        const isType = names.every((name) => name.startsWith("type "))
        lines.push(`import ${isType ? `type { ${all.replaceAll("type ", "")} }` : `{ ${all} }`} from "${module}"`)
      }
    }
    for (const [name, module] of this.needed) lines.push(`import * as ${name} from "${module}"`)
    return lines
  }

  translate() {
    const { statements, text } = this.source
    const imports = statements.filter(ts.isImportDeclaration)
    if (imports.length === 0) return text
    let body = ""
    let at = imports.at(-1).end
    for (const statement of statements.filter((statement) => statement.pos >= at)) {
      body += text.slice(at, statement.getStart()) + this.emit(statement)
      at = statement.end
    }
    return [text.slice(0, imports[0].getStart()) + this.imports().join("\n"), body, text.slice(at)].join("")
  }
}

/** A call of a member of the namespace `ns`. */
class Call {
  #args

  constructor(node, file) {
    Object.assign(this, { node, file, ns: node.expression.expression?.getText() })
  }

  /** The arguments. They are translated on first use. */
  get args() {
    return this.#args ??= this.file.emitAll(this.node.arguments)
  }
}

/** Whether the node is the name of a property, in an access or an assignment. */
const isOwnName = (node) =>
  node.parent.name === node && (ts.isPropertyAccessExpression(node.parent) || ts.isPropertyAssignment(node.parent))

const block = /^([ \t]*(?:\* )?)```ts([^\n]*)\n([\s\S]*?)^\1```/gm

/** Translates the TypeScript blocks in Markdown: those of a page, and the examples in JSDoc. */
export const translateBlocks = (name, text) =>
  text.replace(block, (_, margin, info, code) => {
    const bare = margin.trimEnd()
    const lines = code.split("\n").map((line) => line.slice((line.startsWith(margin) ? margin : bare).length))
    const source = ts.createSourceFile(name, lines.join("\n"), ts.ScriptTarget.Latest, true)
    const translated = new File(name, source).translate().split("\n").slice(0, -1)
    const out = translated.map((line) => line === "" ? `${bare}\n` : `${margin}${line}\n`)
    return `${margin}\`\`\`ts${info}\n${out.join("")}${margin}\`\`\``
  })
