import { dirname, join } from 'node:path'
import * as v from 'valibot'

export type SignerEnv = Readonly<Record<string, string | undefined>>

/**
 * What wraps the keys of managed wallets: a key file, created at the first start, or an AWS KMS key by its ARN.
 */
export type VaultKey = { file: string } | { kmsKey: string }

export type SignerConfig = {
  vaultKey: VaultKey
  /** Its own folder: what it has signed, what is frozen, and its lock. */
  folder: string
  socket: string
  /** The operator's limits; without a file there are none. */
  policyFile: string | undefined
}

/** The configuration of the signer is not valid; told without a stack. */
export class SignerConfigError extends Error {
  override name = 'SignerConfigError'
}

const ARN = /^arn:aws[a-z-]*:kms:([a-z0-9-]+):\d{12}:key\/[A-Za-z0-9-]+$/
const path = v.optional(v.pipe(v.string(), v.nonEmpty()))

/** One row per variable. An alias of a KMS key does not do: it may be pointed to another key, which cannot unwrap what this one wrapped. */
const variables = {
  DATA_DIR: { schema: path, expected: 'a folder' },
  VAULT_KEY_FILE: {
    schema: path,
    expected: 'the file of the key that seals managed wallets (vault.key in DATA_DIR otherwise)',
  },
  VAULT_KMS_KEY: {
    schema: v.optional(v.pipe(v.string(), v.regex(ARN))),
    expected:
      'the ARN of a key (not an alias) of AWS KMS that seals managed wallets, in place of VAULT_KEY_FILE. Example: VAULT_KMS_KEY=arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab',
  },
  SIGNER_DIR: { schema: path, expected: 'a folder of the signer alone' },
  SIGNER_SOCKET: { schema: path, expected: 'the path of a Unix socket, at most 100 bytes' },
  SIGNER_POLICY_FILE: { schema: path, expected: 'the JSON file of the signing policy' },
} as const
export type SignerVariable = keyof typeof variables
export const SIGNER_VARIABLES = Object.keys(variables) as SignerVariable[]

/** The longest path that every system takes for a Unix socket. */
const MAX_SOCKET_PATH = 100

/**
 * The signer's configuration from its environment.
 * @throws SignerConfigError that names every problem at once
 */
export function readSignerConfig(env: SignerEnv): SignerConfig {
  const problems: string[] = []
  const read = (name: SignerVariable): string | undefined => {
    // An empty variable counts as unset.
    const result = v.safeParse(variables[name].schema, env[name] || undefined)
    if (result.success) return result.output
    problems.push(`${name}: expected ${variables[name].expected}.`)
    return undefined
  }
  const [dataDir = '.paydesk/service', file, kmsKey] = [
    read('DATA_DIR'),
    read('VAULT_KEY_FILE'),
    read('VAULT_KMS_KEY'),
  ]
  if (file !== undefined && kmsKey !== undefined)
    problems.push('VAULT_KMS_KEY, VAULT_KEY_FILE: expected one of the two, received both.')
  const vaultKey: VaultKey =
    kmsKey === undefined ? { file: file ?? join(dataDir, 'vault.key') } : { kmsKey }
  const beside = 'file' in vaultKey ? dirname(vaultKey.file) : dataDir
  const folder = read('SIGNER_DIR') ?? join(beside, 'signer')
  const socket = read('SIGNER_SOCKET') ?? join(folder, 'signer.sock')
  if (Buffer.byteLength(socket) > MAX_SOCKET_PATH)
    problems.push(
      `SIGNER_SOCKET: expected ${variables.SIGNER_SOCKET.expected}, received ${JSON.stringify(socket)}. Set SIGNER_DIR to a shorter path.`,
    )
  const policyFile = read('SIGNER_POLICY_FILE')
  if (problems.length > 0)
    throw new SignerConfigError(`The configuration is not valid.\n${problems.join('\n')}`)
  return { vaultKey, folder, socket, policyFile }
}

/** The region of a key of AWS KMS. @throws Error for another text */
export function regionOf(keyArn: string): string {
  const region = ARN.exec(keyArn)?.[1]
  if (region === undefined) throw new Error('Expected the ARN of a key of AWS KMS.')
  return region
}
