import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Database } from '#postgres/open.ts'
import { SignerConfigError } from '#signer/config.ts'
import type { KeyVault } from '#signer/seal.ts'
import { openFileVault } from '#signer/vaults.ts'
import type { BffConfig } from '../config/config.ts'
import { readSealingKeys } from '../db/files.ts'

type Parts = { config: Pick<BffConfig, 'files'>; db: Database }

/**
 * The vault of SOURCE_KEY_FILE. Its key is made only where no credentials are sealed, or only under keys that the operator says are lost.
 * @returns undefined where the variable is not set; `closed`: keys under which credentials are sealed that this one cannot open
 * @throws SignerConfigError for another key than the credentials need, and for none
 */
export async function openSourceVault({
  config,
  db,
}: Parts): Promise<{ vault: KeyVault | undefined; closed: string[] }> {
  const sealing = await readSealingKeys(db)
  const { keyFile } = config.files ?? {}
  if (keyFile === undefined) return { vault: undefined, closed: config.files ? sealing : [] }
  const needed = withoutLost(sealing, config)
  const vault =
    needed.length === 0 || existsSync(keyFile)
      ? openFileVault(keyFile, 'SOURCE_KEY_FILE')
      : undefined
  if (vault && isRight(vault, sealing, needed))
    return { vault, closed: sealing.filter((keyId) => keyId !== vault.keyId) }
  const place = resolve(keyFile)
  const found = vault ? `found the key ${vault.keyId} at ${place}` : `found no file at ${place}`
  throw new SignerConfigError(
    `SOURCE_KEY_FILE: expected the key ${needed.join(' or ')}, under which credentials of files' sources are sealed; ${found}. ` +
      `Set SOURCE_KEY_FILE to that key, or restore its file from your copy. Proxies that share a database share the file. ` +
      `Only when the key is lost with all copies, set LOST_SOURCE_KEYS=${needed.join(',')}: the sources that it sealed then give no file until they are entered again.`,
  )
}

/** Before credentials are sealed: another proxy may have sealed some under another key since the start. */
export async function maySeal(vault: KeyVault, { config, db }: Parts): Promise<boolean> {
  const sealing = await readSealingKeys(db)
  return isRight(vault, sealing, withoutLost(sealing, config))
}

function withoutLost(sealing: readonly string[], { files }: Parts['config']): string[] {
  return sealing.filter((keyId) => !files?.lostKeys.includes(keyId))
}

function isRight({ keyId }: KeyVault, sealing: readonly string[], needed: readonly string[]) {
  return needed.length === 0 || sealing.includes(keyId)
}
