/** Values that a platform, a template or a person should have replaced. Each is recognized by its form: a test may use any key. */

/** Of templates: shells, Compose and Terraform, GitHub Actions and Helm, Kubernetes and Azure Pipelines, Octopus, ERB. */
const template = /\$\{.*\}|\{\{.*\}\}|\$\(.*\)|#\{.*\}|<%.*%>/

const references = [
  /^\$(env:)?[A-Z_][A-Z\d_]*$/,
  /^\$(env:)?[a-z]+(_[a-z]+)+$/,
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
  /^(arn|aws|azurekeyvault|doppler|env|file|gcp|gcpsm|gsm|keyvault|keyvaultref|secretref|secretsmanager|ssm|vault):\S/i,
  /^\w[\w-]*@azurekeyvault/i,
  /^projects\/[^/]+\/secrets\//,
  /^(\/var)?\/run\/secrets\//
]

const placeholder =
  /^(null|\[object \w+\]|<.*>|\{.*\}|your[-_ ]?((license|licence|api)[-_ ]?)?key([-_ ]?here)?|change[-_ ]?me|.*(•|…|\*{3}).*)$/i

/** What no value of a secret, an identifier or an address looks like. */
export const holdsTemplate = (text: string): boolean => template.test(text)

/** What no license key or identifier looks like. */
export const isPlaceholder = (text: string): boolean =>
  holdsTemplate(text) || placeholder.test(text) || references.some((reference) => reference.test(text))

export const placeholderRule = "looks like a placeholder or an unresolved reference: set the value itself"
