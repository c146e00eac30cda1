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

/** By database, a key that has sealed something of it. What is sealed is kept, so the rows need not be read again for this key. */
const known = new WeakMap<Database, string>()

/**
 * Before anything is sealed: the signer has a key that sealed something of this database, or makes one where nothing is sealed.
 * @returns keys under which something is sealed that this signer cannot open
 * @throws SignerConfigError for another key, and for none
 */
export async function prepareVaultKey(parts: Parts): Promise<string[]> {
  const { db, signer, lostKeys = [] } = parts
  const sealing = await readSealingKeys(db)
  const make = sealing.every((keyId) => lostKeys.includes(keyId))
  return requireOneOf(parts, sealing, await requestVaultKey(signer, { make }))
}

/** The same before each wallet and each secret. @throws SignerConfigError */
export async function ensureVaultKey(parts: Parts): Promise<void> {
  if (!(await hasKnownKey(parts))) await prepareVaultKey(parts)
}

async function hasKnownKey({ db, signer }: Parts): Promise<boolean> {
  const keyId = known.get(db)
  return keyId !== undefined && (await requestVaultKey(signer, { make: false })).keyId === keyId
}

async function requestVaultKey(
  signer: Parts['signer'],
  request: { make: boolean },
): Promise<FoundVaultKey> {
  try {
    return await signer.vaultKey(request)
  } catch (error) {
    // What the signer says of its file is told without a stack.
    if (error instanceof ProblemError || !(error instanceof Error)) throw error
    throw new SignerConfigError(error.message, { cause: error })
  }
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
        'wallets or webhook secrets are sealed under other vault keys',
      )
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    log.warn({ err: error }, 'the vault key of the signer is not compared yet')
  }
}

/** The same for a request. @throws `SERVICE_UNAVAILABLE`: nothing is sealed under a key that the operator may not keep */
export async function requireVaultKey({ db, signer, config }: Context): Promise<void> {
  try {
    await ensureVaultKey({ db, signer, lostKeys: config.lostVaultKeys })
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
export async function checkVaultKey(parts: Parts): Promise<void> {
  if (await hasKnownKey(parts)) return
  const sealing = await readSealingKeys(parts.db)
  requireOneOf(parts, sealing, await requestVaultKey(parts.signer, { make: false }))
}

function requireOneOf(
  { db, lostKeys = [] }: Parts,
  sealing: readonly string[],
  { keyId, place }: FoundVaultKey,
): string[] {
  if (keyId !== null && sealing.includes(keyId)) known.set(db, keyId)
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
