// Translates one TypeScript source from Effect 3.22 to Effect 4: imports, renamed members, and rewrites of whole expressions.
import ts from "typescript"
import { exportsOf } from "./exports.mjs"
import { members, modules, namespaces, nestedTypes, properties } from "./renames.mjs"
import { rewrites } from "./rewrites.mjs"

const isEffectModule = (name) => name === "effect" || name.startsWith("effect/") || name.startsWith("@effect/")

/** Where a name that is imported from a barrel lives: `Effect` of "effect" is "effect/Effect". */
const namespaceOf = (module, name) => `${module}/${name}`

/** A name with a capital letter that a barrel gives is a namespace. */
const isBarrel = (module) => module === "effect" || /^@effect\/(?!vitest$)[a-z-]+$/.test(module)

const isNamespace = (module, name) => isBarrel(module) && /^[A-Z]/.test(name)

/** The usual local name of a module's namespace. */
const nameOf = (module) => module === "fast-check" ? "FastCheck" : module.split("/").at(-1)

/** What is used of a module that Effect 4 does not have is listed where it is used. */
const isGone = (module) => exportsOf("effect/Effect") !== undefined && exportsOf(module) === undefined

/** Modules of which each value is rewritten. */
const replaced = new Set(["effect/GlobalValue"])

/** The code without what stands in its strings. */
const withoutTexts = (code) => {
  const source = ts.createSourceFile("code.ts", code, ts.ScriptTarget.Latest)
  let text = ""
  let at = 0
  const visit = (node) => {
    if (ts.isStringLiteral(node) || ts.isTemplateLiteralToken(node)) {
      text += code.slice(at, node.getStart(source))
      at = node.end
    } else ts.forEachChild(node, visit)
  }
  visit(source)
  return text + code.slice(at)
}

class File {
  constructor(name, text) {
    this.name = name
    this.source = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true)
    /** Local name to what it stands for: "effect/Effect" for a namespace, "effect/Function#pipe" for a value. */
    this.names = new Map()
    this.problems = []
    /** Namespaces that the translation needs besides those imported: local name to module. */
    this.needed = new Map()
    /** Names that were imported as types, and are values now. */
    this.values = new Set()
    for (const statement of this.source.statements) {
      if (ts.isImportDeclaration(statement)) this.declare(statement)
    }
  }

  declare(statement) {
    const module = statement.moduleSpecifier.text
    const bindings = statement.importClause?.namedBindings
    if (bindings === undefined || !isEffectModule(module)) return
    if (ts.isNamespaceImport(bindings)) {
      this.names.set(bindings.name.text, module)
      return
    }
    if (!isBarrel(module) && isGone(modules.get(module) ?? namespaces.get(module) ?? module) && !replaced.has(module)) {
      this.problem(statement, `Effect 4 has no module ${module}`)
    }
    for (const { name, propertyName } of bindings.elements) {
      const imported = (propertyName ?? name).text
      this.names.set(name.text, isNamespace(module, imported) ? namespaceOf(module, imported) : `${module}#${imported}`)
    }
  }

  /** The local name of a module of Effect 4, imported if need be. */
  local(module) {
    const name = nameOf(module)
    this.values.add(name)
    if (this.names.get(name) !== module) this.needed.set(name, module)
    return name
  }

  problem(node, what) {
    const { line } = this.source.getLineAndCharacterOfPosition(node.getStart())
    this.problems.push({ line: line + 1, what })
  }

  /** "effect/Effect#catchAll", where the node is a member of an imported namespace. */
  memberOf(node) {
    const [left, right] = ts.isPropertyAccessExpression(node)
      ? [node.expression, node.name]
      : ts.isQualifiedName(node)
      ? [node.left, node.right]
      : []
    if (left === undefined || !ts.isIdentifier(left)) return undefined
    const namespace = this.names.get(left.text)
    return namespace === undefined || namespace.includes("#") ? undefined : `${namespace}#${right.text}`
  }

  text(node) {
    return this.source.text.slice(node.getStart(), node.end)
  }

  /** The text of a node and of all that stands in it, translated, without the trivia before it. */
  emit(node) {
    return this.replace(node) ?? this.emitParts(node)
  }

  /** The parts of a node, translated; `added` stands at the place `addedAt` of the source besides. */
  emitParts(node, added = "", addedAt = -1) {
    const between = (from, to) =>
      from <= addedAt && addedAt <= to
        ? this.source.text.slice(from, addedAt) + added + this.source.text.slice(addedAt, to)
        : this.source.text.slice(from, to)
    let text = ""
    let at = node.getStart()
    ts.forEachChild(node, (child) => {
      if (child.pos < at && child.end <= at) return
      const start = child.getStart()
      text += between(at, start) + this.emit(child)
      at = child.end
    })
    return text + between(at, node.end)
  }

  replace(node) {
    for (const rewrite of rewrites) {
      const text = rewrite(node, this)
      if (text !== undefined) return text
    }
    const nested = ts.isQualifiedName(node) ? this.nestedType(node) : undefined
    if (nested !== undefined) return nested
    const member = this.memberOf(node)
    if (member !== undefined) return this.renamed(node, member)
    if (ts.isIdentifier(node)) return this.renamedIdentifier(node)
    return undefined
  }

  renamed(node, member) {
    const target = members.get(member)
    const [namespace, name] = member.split("#")
    const local = ts.isPropertyAccessExpression(node) ? node.expression : node.left
    const [module, renamed] = (target ?? `${namespaces.get(namespace) ?? namespace}#${name}`).split("#")
    if (isEffectModule(module) && exportsOf(module)?.has(renamed) !== true) {
      this.problem(node, `Effect 4 has no ${module}.${renamed}`)
    }
    if (target === undefined && module === namespace) return undefined
    const isHere = module === (namespaces.get(namespace) ?? namespace)
    const isValue = ts.isPropertyAccessExpression(node)
    return `${isHere ? this.kept(local.text, module, isValue) : this.local(module)}.${renamed}`
  }

  /** A namespace keeps its local name, unless that is the name of the module that it was. */
  kept(name, module, isValue) {
    if (isValue) this.values.add(name)
    const was = nameOf(this.names.get(name))
    return name === was && was !== nameOf(module) ? this.local(module) : name
  }

  /** A program that stands in this one as a text. */
  program(node, text) {
    const { line } = this.source.getLineAndCharacterOfPosition(node.getStart())
    const translated = translate(this.name, text)
    this.problems.push(...translated.problems.map((problem) => ({ ...problem, line: problem.line + line })))
    return translated.text
  }

  nestedType(node) {
    const outer = this.memberOf(node.left)
    const target = outer === undefined ? undefined : nestedTypes.get(`${outer}.${node.right.text}`)
    return target === undefined ? undefined : `${node.left.left.text}.${target}`
  }

  /** A value imported by name, such as `TypeId` or `dual`. */
  renamedIdentifier(node) {
    if (ts.isPropertyAccessExpression(node.parent) && node.parent.name === node) return properties.get(node.text)
    const imported = this.names.get(node.text)
    const target = imported === undefined ? undefined : members.get(imported)
    if (target === undefined || ts.isImportSpecifier(node.parent)) return undefined
    const [module, renamed] = target.split("#")
    return `${this.local(module)}.${renamed}`
  }

  /** Import statements of Effect's modules, as Effect 4 has them. Those that nothing uses any more go. */
  imports(body) {
    const code = withoutTexts(body)
    const uses = (name) => new RegExp(`(?<![\\w$])(?<!(?<!\\.\\.)\\.)${name.replace("$", "\\$")}(?![\\w$])`).test(code)
    const named = new Map()
    const lines = []
    const add = (module, specifier, isType) => {
      const key = `${isType ? "type " : ""}${module}`
      named.set(key, [...(named.get(key) ?? []), specifier])
    }
    for (const statement of this.source.statements.filter(ts.isImportDeclaration)) {
      const module = statement.moduleSpecifier.text
      const clause = statement.importClause
      const bindings = clause?.namedBindings
      if (bindings === undefined || !isEffectModule(module)) {
        lines.push(this.text(statement))
        continue
      }
      const isTypeOf = (name) => clause.isTypeOnly && !this.values.has(name)
      if (ts.isNamespaceImport(bindings)) {
        const name = bindings.name.text
        const isRenamed = name === nameOf(module) && nameOf(namespaces.get(module) ?? module) !== name
        if (!uses(name) || this.needed.has(name) || isRenamed || isGone(namespaces.get(module) ?? module)) continue
        lines.push(`import ${isTypeOf(name) ? "type " : ""}* as ${name} from "${namespaces.get(module) ?? module}"`)
        continue
      }
      for (const element of bindings.elements) {
        const name = element.name.text
        if (!uses(name) || this.needed.has(name)) continue
        const text = this.text(element)
        if (!isBarrel(module)) {
          add(namespaces.get(module) ?? modules.get(module) ?? module, text, isTypeOf(name))
          continue
        }
        const moved = namespaces.get(namespaceOf(module, (element.propertyName ?? element.name).text))
        if (moved === undefined) add(modules.get(module) ?? module, text, isTypeOf(name))
        else lines.push(`import ${isTypeOf(name) || element.isTypeOnly ? "type " : ""}* as ${name} from "${moved}"`)
      }
    }
    for (const [key, specifiers] of named) {
      const isType = key.startsWith("type ")
      lines.push(`import ${isType ? "type " : ""}{ ${specifiers.join(", ")} } from "${key.replace("type ", "")}"`)
    }
    for (const [name, module] of [...this.needed].sort()) {
      if (uses(name)) lines.push(`import * as ${name} from "${module}"`)
    }
    return lines
  }

  translate() {
    const { statements, text } = this.source
    const imports = statements.filter(ts.isImportDeclaration)
    if (imports.length === 0) return text
    const first = imports[0].getStart()
    const rest = statements.filter((statement) => !ts.isImportDeclaration(statement))
    let body = ""
    let at = imports.at(-1).end
    for (const statement of rest) {
      if (statement.end <= at) continue
      body += text.slice(at, statement.getStart()) + this.emit(statement)
      at = statement.end
    }
    body += text.slice(at)
    const between = rest.filter((statement) => statement.end <= imports.at(-1).end).map((s) => this.emit(s))
    return text.slice(0, first) + [...this.imports(body + between.join("\n")), ...between].join("\n") + body
  }
}

/** The translated text, and what could not be translated: line and member. */
export const translate = (name, text) => {
  const file = new File(name, text)
  return { text: file.translate(), problems: file.problems }
}
