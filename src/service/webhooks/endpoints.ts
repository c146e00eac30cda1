import { randomBytes } from 'node:crypto'
import { and, asc, eq, sql } from 'drizzle-orm'
import type { EndpointInput, EndpointReply } from '#contract/endpoints.ts'
import { createId } from '#contract/payment.ts'
import { ProblemError } from '#contract/problem.ts'
import { MOST_WEBHOOKS } from '#contract/webhook.ts'
import { refuseUrl } from '#egress/public-address.ts'
import type { Actor, Context } from '../context/context.ts'
import { lockAccount } from '../db/lease.ts'
import { webhookEndpoint, type WebhookSecret } from '../db/schema/webhook.ts'
import { deleteEndpoint, redeliverRange, type WebhookEndpoint } from '../db/webhooks.ts'
import { lastEventId } from '../events/read.ts'
import { requireGrant } from '../keys/authenticate.ts'
import { requireVaultKey } from '../wallets/vault-key.ts'
import { announceWebhooks } from './deliver.ts'

const SECRET_BYTES = 32
const YEAR_MS = 365 * 86_400_000

/** The account's webhooks, oldest first; of their secrets only when they end. */
export async function listWebhooks(
  context: Context,
  actor: Actor,
): Promise<EndpointReply<'webhookList'>> {
  requireGrant(actor, ['payment:read'])
  const rows = await context.db
    .select({ row: webhookEndpoint, ...openCounts })
    .from(webhookEndpoint)
    .where(eq(webhookEndpoint.accountId, actor.accountId))
    .orderBy(asc(webhookEndpoint.createdAt), asc(webhookEndpoint.id))
  return {
    success: true,
    webhooks: rows.map(({ row, ...counts }) => bodyOf(context, row, counts)),
  }
}

/** @throws `FORBIDDEN` beyond the most that an account has, `INVALID_PARAMETERS` for a URL that is never asked */
export async function createWebhook(
  context: Context,
  actor: Actor,
  { url, events }: EndpointInput<'webhookCreate'>['body'],
): Promise<EndpointReply<'webhookCreate'>> {
  requireGrant(actor, ['payment:read'])
  requireUrl(context, url)
  const { accountId } = actor
  const { secret, sealed } = await makeSecret(context, accountId)
  const row = await context.db.transaction(async (tx) => {
    await lockAccount(tx, accountId)
    if (
      (await tx.$count(webhookEndpoint, eq(webhookEndpoint.accountId, accountId))) >= MOST_WEBHOOKS
    )
      throw new ProblemError('FORBIDDEN', {
        message: `An account has at most ${MOST_WEBHOOKS} webhooks. Delete one first.`,
      })
    const [inserted] = await tx
      .insert(webhookEndpoint)
      .values({
        id: createId('whk'),
        accountId,
        url,
        events,
        secrets: [sealed],
        cursor: await lastEventId(tx, accountId),
      })
      .returning()
    return inserted
  })
  if (!row) throw new Error('A webhook was not inserted.')
  await announceWebhooks(context.db)
  return { success: true, secret, ...(await describe(context, row)) }
}

/** @throws `NOT_FOUND`, `INVALID_PARAMETERS` for a URL that is never asked */
export async function updateWebhook(
  context: Context,
  actor: Actor,
  { params: { id }, body }: EndpointInput<'webhookUpdate'>,
): Promise<EndpointReply<'webhookUpdate'>> {
  if (body.url !== undefined) requireUrl(context, body.url)
  const row = await readOwnWebhook(context, actor, id)
  if (body.enabled === true && !row.enabled) await attemptAgain(context, id)
  // Drizzle refuses an update without a column.
  const [changed = row] =
    Object.keys(body).length === 0
      ? []
      : await context.db
          .update(webhookEndpoint)
          .set(body)
          .where(eq(webhookEndpoint.id, id))
          .returning()
  await announceWebhooks(context.db)
  return { success: true, ...(await describe(context, changed)) }
}

/** What waits for an endpoint that was disabled has its three days still: before it is enabled, so that nothing ends by its old time. */
async function attemptAgain({ db, now }: Context, endpointId: string): Promise<void> {
  const [since, until] = [new Date(0), new Date(now().getTime() + YEAR_MS)]
  await redeliverRange(db, { endpointId, range: { since, until, state: 'pending' }, now: now() })
}

/** @throws `NOT_FOUND` */
export async function deleteWebhook(
  context: Context,
  actor: Actor,
  id: string,
): Promise<EndpointReply<'webhookDelete'>> {
  await readOwnWebhook(context, actor, id)
  await deleteEndpoint(context.db, id)
  await announceWebhooks(context.db)
  return { success: true, id }
}

/** The newest secret signs beside the new one until the grace ends; older ones end at once. @throws `NOT_FOUND` */
export async function rotateSecret(
  context: Context,
  actor: Actor,
  { params: { id }, body: { graceSeconds } }: EndpointInput<'webhookRotate'>,
): Promise<EndpointReply<'webhookRotate'>> {
  await readOwnWebhook(context, actor, id)
  const { secret, sealed } = await makeSecret(context, actor.accountId)
  const expiresAt = context.now().getTime() + graceSeconds * 1_000
  const row = await context.db.transaction(async (tx) => {
    const [old] = await tx
      .select()
      .from(webhookEndpoint)
      .where(eq(webhookEndpoint.id, id))
      .for('update')
    const former = old?.secrets.find((one) => one.expiresAt === null)
    const secrets = [sealed, ...(former && graceSeconds > 0 ? [{ ...former, expiresAt }] : [])]
    const [changed] = await tx
      .update(webhookEndpoint)
      .set({ secrets })
      .where(eq(webhookEndpoint.id, id))
      .returning()
    return changed
  })
  if (!row) throw notFound(id)
  return { success: true, secret, ...(await describe(context, row)) }
}

/** @throws `NOT_FOUND` for an unknown webhook and for another account's alike */
export async function readOwnWebhook(
  { db }: Context,
  actor: Actor,
  id: string,
): Promise<WebhookEndpoint> {
  requireGrant(actor, ['payment:read'])
  const [row] = await db
    .select()
    .from(webhookEndpoint)
    .where(and(eq(webhookEndpoint.id, id), eq(webhookEndpoint.accountId, actor.accountId)))
  if (!row) throw notFound(id)
  return row
}

function notFound(id: string): ProblemError {
  return new ProblemError('NOT_FOUND', { message: `There is no webhook ${id}.` })
}

function requireUrl({ config }: Context, url: string): void {
  const refused = refuseUrl(new URL(url), config.webhookLoopback ?? false)
  if (refused !== undefined)
    throw new ProblemError('INVALID_PARAMETERS', { details: { url: refused } })
}

/** The secret as the merchant is shown it once, and as the database keeps it. */
async function makeSecret(
  context: Context,
  accountId: string,
): Promise<{ secret: string; sealed: WebhookSecret }> {
  await requireVaultKey(context)
  const bytes = randomBytes(SECRET_BYTES)
  const secret = `whsec_${bytes.toString('base64')}`
  const { accountId: _owner, ...sealed } = await context.signer.sealKey({
    id: createId('whs'),
    accountId,
    secret: bytes,
  })
  return { secret, sealed: { ...sealed, expiresAt: null } }
}

type OpenCounts = { pending: number; dead: number }

/** Each state has an index, so no count reads what was delivered. */
const openCounts = {
  pending: sql<number>`(select count(*)::int from service.webhook_delivery where endpoint_id = webhook_endpoint.id and state = 'pending')`,
  dead: sql<number>`(select count(*)::int from service.webhook_delivery where endpoint_id = webhook_endpoint.id and state = 'dead')`,
}

/** A webhook as its merchant sees it. */
async function describe(context: Context, row: WebhookEndpoint) {
  const [counts] = await context.db
    .select(openCounts)
    .from(webhookEndpoint)
    .where(eq(webhookEndpoint.id, row.id))
  return bodyOf(context, row, counts ?? { pending: 0, dead: 0 })
}

function bodyOf(
  { now }: Context,
  { id, url, events, enabled, createdAt, secrets }: WebhookEndpoint,
  counts: OpenCounts,
) {
  return {
    id,
    url,
    events,
    enabled,
    createdAt: createdAt.getTime(),
    secrets: secrets.flatMap(({ expiresAt }) =>
      expiresAt === null || expiresAt > now().getTime() ? [{ expiresAt }] : [],
    ),
    ...counts,
  }
}
