import dprint from "@effect/eslint-plugin"
import simpleImportSort from "eslint-plugin-simple-import-sort"
import tseslint from "typescript-eslint"

export default tseslint.config(
  {
    ignores: [
      "dist/",
      "bench/out/",
      "docs/api/",
      "node_modules/",
      "editions/*/out/",
      "editions/*/overlays/",
      "test/system/matrix/programs/*.cjs"
    ]
  },
  ...tseslint.configs.strict,
  {
    files: ["**/*.{js,ts,mts,mjs}"],
    plugins: { "@effect": dprint, "simple-import-sort": simpleImportSort },
    languageOptions: { parserOptions: { sourceType: "module" } },
    rules: {
      "@effect/dprint": ["error", {
        config: {
          indentWidth: 2,
          lineWidth: 120,
          semiColons: "asi",
          quoteStyle: "alwaysDouble",
          trailingCommas: "never",
          operatorPosition: "maintain",
          "module.sortImportDeclarations": "maintain",
          "module.sortExportDeclarations": "maintain",
          "arrowFunction.useParentheses": "force"
        }
      }],
      "@typescript-eslint/array-type": ["error", { default: "generic", readonly: "generic" }],
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-empty-object-type": "off",
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "@typescript-eslint/unified-signatures": "off",
      "no-restricted-syntax": ["error", {
        selector: "ExportDefaultDeclaration",
        message: "Named exports only: a default export has no name to search for."
      }],
      "object-shorthand": "error",
      "simple-import-sort/imports": ["error", { groups: [["^\\u0000", "^node:", "^@?\\w", "^\\."]] }],
      "simple-import-sort/exports": "error"
    }
  },
  {
    files: ["src/**/*.ts"],
    rules: {
      "max-lines": ["error", 400],
      "max-lines-per-function": ["error", 80],
      "no-console": "error",
      "no-restricted-imports": ["error", {
        paths: ["effect", "@effect/platform"].map((name) => ({
          name,
          message: `Import the module, as in "${name}/…": a barrel costs every user its load time.`
        }))
      }],
      "no-restricted-properties": [
        "error",
        ...["runPromise", "runPromiseExit", "runSync", "runSyncExit", "runFork", "runCallback"].map((property) => ({
          object: "Effect",
          property,
          message: "The library describes effects; the caller's runtime runs them."
        }))
      ]
    }
  },
  {
    // The promises of `effect-nutrition-advisor/promise`, and the timers that the clients of a process share: no caller's runtime owns them.
    files: ["src/internal/promise/*.ts", "src/internal/token/wakeUps.ts"],
    rules: { "no-restricted-properties": "off" }
  },
  {
    files: ["eslint.config.mjs"],
    rules: { "no-restricted-syntax": "off" }
  }
)
