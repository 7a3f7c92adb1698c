/** Recognizes values that a platform, a template or a person should have replaced. Any other value is accepted, such as a test's key. */
import type { Rule } from "../options/check.js"

/** Shells, Compose and Terraform; GitHub Actions and Helm; Kubernetes and Azure Pipelines; Octopus and Puppet; ERB. */
const template = /\$\{.*\}|\{\{.*\}\}|\$\(.*\)|[#%]\{.*\}|<%.*%>/

const placeholders = [
  /^(null|undefined|\[object \w+\])$/i,
  /^(your[-_ ]?((license|licence|api)[-_ ]?)?key([-_ ]?here)?|change[-_ ]?me)$/i,
  /^<.*>$/,
  // Braces around a GUID are a valid key.
  /^\{(?![\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\}$).*\}$/i,
  // Masked, as a dashboard shows it
  /^.*(•|…|\*{3}).*$/,
  /^\$[A-Z_][A-Z\d_]*$/,
  // PowerShell and Grafana: $env:licenseKey, $__file{/run/key}
  /^\$env:\w+$/i,
  /^\$__\w+\{.*\}$/,
  // Azure Pipelines at run time, ARM, Concourse and Cloud Foundry, dotenvx
  /^\$\[.*\]$/,
  /^\[[a-z]+\('.*'\).*\]$/i,
  /^\(\(.+\)\)$/,
  /^encrypted:[\w+/=]+$/,
  // process.env.NAME, import.meta.env.NAME, secrets.NAME, ENV['NAME'], os.environ['NAME']
  /^(process\.env|import\.meta\.env|secrets|env|vars|var|local)\.[a-z_]\w*$/i,
  /^(ENV|os\.environ|process\.env)\[(['"]).*\2\]$/,
  /^\$[a-z]+(_[a-z]+)+$/,
  /^\$ANSIBLE_VAULT;/,
  /^%\w+%$/,
  /^__\w+__$/,
  /^@{1,2}\w+@{1,2}$/,
  // @Microsoft.KeyVault(...), env(NAME), ENC(...)
  /^[@%]?[a-z][\w.:]*\(.*\)%?$/i,
  /^ENC\[/,
  /^\{cipher\}/,
  /^!\w+ /,
  // op://, sm://, ref+vault://, https://
  /^[a-z][\w+.-]*:\/\//i,
  /^(akv|arn|aws|azurekeyvault|bao|doppler|env|file|gcp|gcpsm|gsm|keyvault|keyvaultref|secretref|secretsmanager|ssm|vault):\S/i,
  /^(aws-?(kms|secretsmanager|sm|ssm)|gcp-secret-?manager):\S/i,
  /^\w[\w-]*@azurekeyvault/i,
  /^projects\/[^/]+\/secrets\//,
  /^(\/var\/run|\/run|\/etc|\/mnt|\/vault)\/secrets(-store)?\//
]

export const containsTemplate = (text: string): boolean => template.test(text)

/** Whether a value is a placeholder or an unresolved reference. */
export const isPlaceholder = (text: string): boolean =>
  containsTemplate(text) || placeholders.some((placeholder) => placeholder.test(text))

export const placeholderRule = "looks like a placeholder or an unresolved reference: set the value itself"

/** Secret files and env files may add white space or quotation marks. Word processors turn quotation marks into typographic ones. */
export const paddingRules = (text: string): ReadonlyArray<Rule> => [
  [
    !/^[\s\p{Cf}\p{Pi}\p{Pf}„‚]|[\s\p{Cf}\p{Pi}\p{Pf}]$/u.test(text),
    "starts or ends with white space, a line break or a typographic quotation mark"
  ],
  [!/^(["'`]).*\1$|\s#/.test(text), "is quoted or ends with a comment: docker --env-file keeps both"]
]
