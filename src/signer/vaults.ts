import { createHash, randomBytes, randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { SignerConfigError, type VaultKey } from './config.ts'
import { decrypt, encrypt, type KeyVault } from './seal.ts'

const KEY = /^[0-9a-f]{64}$/
/** Nobody but the owner: no bit of group or others. */
const FOREIGN_BITS = 0o077
/** Each write is on the disk when it returns: Node's permission model allows no `fsync`. */
const SYNCED = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_DSYNC

/**
 * The vault of a key that lies in a file; the file is made, with mode 0600, when there is none. Processes that share a database share this file.
 * @param variable names the setting that an error is about
 * @throws SignerConfigError for a file that others may read, or that holds something else
 */
export function openFileVault(file: string, variable = 'VAULT_KEY_FILE'): KeyVault {
  const path = resolve(file)
  try {
    if (!existsSync(path)) makeKeyFile(path)
    if ((statSync(path).mode & FOREIGN_BITS) !== 0)
      throw new SignerConfigError(
        `${variable}: expected a file that only its owner may read (chmod 600 ${path}).`,
      )
    const text = readFileSync(path, 'utf8').trim()
    if (!KEY.test(text))
      throw new SignerConfigError(`${variable}: expected 64 hex digits in ${path}.`)
    return createVault(Buffer.from(text, 'hex'))
  } catch (error) {
    if (error instanceof SignerConfigError) throw error
    throw new SignerConfigError(
      `${variable}: expected a file that can be read or made, received ${JSON.stringify(file)}.`,
      { cause: error },
    )
  }
}

/** @param key 32 bytes */
export function createVault(key: Uint8Array): KeyVault {
  const keyId = createHash('sha256')
    .update('paydesk vault key\n')
    .update(key)
    .digest('hex')
    .slice(0, 16)
  return {
    keyId,
    wrap: async (dataKey, context) => encrypt(key, dataKey, context),
    unwrap: async (wrapped, context) => decrypt(key, wrapped, context),
  }
}

/** Whole or not at all: written and synced beside its place, then linked there unless another process was first. */
function makeKeyFile(path: string): void {
  // Who starts a process with permissions makes the folder.
  if (!process.permission) mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const own = `${path}.${randomUUID()}`
  const handle = openSync(own, SYNCED, 0o600)
  try {
    writeSync(handle, `${randomBytes(32).toString('hex')}\n`)
  } finally {
    closeSync(handle)
  }
  try {
    linkSync(own, path)
  } catch (error) {
    if (!existsSync(path)) throw error
  } finally {
    rmSync(own)
  }
}

/**
 * The vault that the configuration names.
 * @param make whether a key file that is not there is made; otherwise there is no vault
 * @throws SignerConfigError for a key file that cannot be used
 */
export async function openVault(key: VaultKey, make: boolean): Promise<KeyVault | undefined> {
  if ('file' in key) return make || existsSync(key.file) ? openFileVault(key.file) : undefined
  // The client of AWS is large, and most installations have none.
  const { openKmsVault } = await import('./kms-vault.ts')
  return openKmsVault(key.kmsKey)
}
