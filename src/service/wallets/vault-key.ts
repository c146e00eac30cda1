import { sql } from 'drizzle-orm'
import { ProblemError } from '#contract/problem.ts'
import type { Database } from '#postgres/open.ts'
import { SignerConfigError } from '#signer/config.ts'
import type { FoundVaultKey, Signer } from '#signer/protocol.ts'
import type { Context } from '../context/context.ts'

const RETRY_AFTER_S = 30

type Parts = {
  db: Database
  signer: Pick<Signer, 'vaultKey'>
  /** Keys that the operator says are lost: what they sealed stays closed. */
  lostKeys?: readonly string[] | undefined
}

/** Under which keys of the vault wallets and the secrets of webhooks are sealed. */
async function readSealingKeys(db: Database): Promise<string[]> {
  const { rows } = await db.execute<{ keyId: string }>(sql`
    select vault_key_id as "keyId" from service.wallet
    union
    select secret->>'vaultKeyId' from service.webhook_endpoint cross join jsonb_array_elements(secrets) as secret
    order by 1`)
  return rows.map(({ keyId }) => keyId)
}

/**
 * Before anything is sealed: the signer has a key that sealed something of this database, or makes one where nothing is sealed.
 * @returns keys under which something is sealed that this signer cannot open
 * @throws SignerConfigError for another key, and for none
 */
export async function prepareVaultKey(parts: Parts): Promise<string[]> {
  const { db, signer, lostKeys = [] } = parts
  const sealing = await readSealingKeys(db)
  const make = sealing.every((keyId) => lostKeys.includes(keyId))
  const found = await signer.vaultKey({ make }).catch((error: unknown) => {
    // What the signer says of its file is told without a stack.
    if (error instanceof ProblemError || !(error instanceof Error)) throw error
    throw new SignerConfigError(error.message, { cause: error })
  })
  return requireOneOf(sealing, found, lostKeys)
}

/**
 * The same at the start of the service. A signer that is away now is compared by the readiness check, and before something is sealed: another service that
 * runs it may have ended at this moment.
 * @throws SignerConfigError for another key, and for none
 */
export async function compareVaultKeys({ db, signer, config, log }: Context): Promise<void> {
  try {
    const closed = await prepareVaultKey({ db, signer, lostKeys: config.lostVaultKeys })
    if (closed.length > 0)
      log.warn(
        { vaultKeyIds: closed },
        'wallets or webhook secrets are sealed under other vault keys than the one of the signer: they cannot sign',
      )
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    log.warn({ err: error }, 'the vault key of the signer is not compared yet')
  }
}

/** The same for a request. @throws `SERVICE_UNAVAILABLE`: nothing is sealed under a key that the operator may not keep */
export async function requireVaultKey({ db, signer, config }: Context): Promise<void> {
  try {
    await prepareVaultKey({ db, signer, lostKeys: config.lostVaultKeys })
  } catch (error) {
    if (!(error instanceof SignerConfigError)) throw error
    throw new ProblemError(
      'SERVICE_UNAVAILABLE',
      {
        message: 'The signer has another vault key than this service needs. Nothing was made.',
        details: { operator: error.message },
        retryAfter: RETRY_AFTER_S,
      },
      { cause: error },
    )
  }
}

/** The same, and nothing is made. @throws SignerConfigError */
export async function checkVaultKey({ db, signer, lostKeys = [] }: Parts): Promise<void> {
  const sealing = await readSealingKeys(db)
  requireOneOf(sealing, await signer.vaultKey({ make: false }), lostKeys)
}

function requireOneOf(
  sealing: readonly string[],
  { keyId, place }: FoundVaultKey,
  lostKeys: readonly string[],
): string[] {
  const others = sealing.filter((other) => other !== keyId)
  const needed = sealing.filter((other) => !lostKeys.includes(other))
  if (keyId !== null && (needed.length === 0 || sealing.includes(keyId))) return others
  const found = keyId === null ? `found no key at ${place}` : `found the key ${keyId} at ${place}`
  if (needed.length === 0)
    throw new SignerConfigError(
      `VAULT_KEY_FILE: expected a key, ${found}. Start the service again, which makes one.`,
    )
  throw new SignerConfigError(
    `VAULT_KEY_FILE: expected the key ${needed.join(' or ')}, under which the wallets and webhook secrets of this database are sealed; ${found}. ` +
      `Set VAULT_KEY_FILE (or VAULT_KMS_KEY) of the signer to that key, or restore its file from your copy. DATA_DIR, which the file is in otherwise, is best an absolute path. ` +
      `Only when the key is lost with all copies, set LOST_VAULT_KEYS=${needed.join(',')} of the service: the money of its wallets then stays out of reach.`,
  )
}
