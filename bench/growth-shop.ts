import pg from 'pg'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Hex } from 'viem'
import type { DatabaseTarget } from '#postgres/open.ts'
import { foldTallies } from '#service/db/fold-tallies.ts'
import { listAt, succeed, textAt } from '#testing/api-client.ts'
import { asOwner } from '#testing/postgres.ts'
import { INVOICE, PRODUCT, fileTerms } from '#testing/proxy-cells.ts'
import {
  buildOrder,
  payOrder,
  signRefundRequest,
  untilStatus,
  untilUnmatched,
  WALLET_FEES,
} from '#testing/tenant-orders.ts'
import { atFacilitator, makeProof, receive } from '#testing/tenant-proofs.ts'
import { asReply, openProxy, type TenantProxy } from '#testing/tenant-proxy.ts'
import type { TestBrowser } from '#testing/test-browser.ts'
import { openTenants, type Tenants } from '#testing/two-tenants.ts'
import { copyRows, withoutIndexes } from './rows.ts'

/**
 * A merchant with a year of payments, behind the real service and the real proxy, on a real chain and a real Postgres. One payment of each kind is
 * really made, and its rows are copied: 65 % orders paid in the dashboard, 15 % settlements, 10 % proofs, 5 % hosted payments, 5 % expired orders;
 * 20,000 customers, and one who makes every twentieth payment.
 */
export type GrowthShop = AsyncDisposable & {
  t: Tenants
  proxy: TenantProxy
  operator: TestBrowser
  rows: number
  /** The customer who pays often. */
  payer: PrivateKeyAccount
  webhook: string
  product: string
  fileCode: string
  /** A row of each table: bytes of the table and its indexes, divided by payments. */
  sizes: { table: string; bytes: number; indexes: number }[]
}

const DAY_S = 86_400
/** Payments of this many make one of each share. */
const ROUND = 40
const kind = `case when n % 40 = 0 then 1 when n % 40 <= 2 then 2 when n % 40 <= 8 then 3 when n % 40 <= 12 then 4 else 5 end`
/** The places in a round of the payments that are paid for an order. */
const FIRST_PAID = 13
const OFTEN = [20, 21] as const
/** As many as the rounds of a bench use up. */
const FEW = 24

const id = (prefix: string, n = 'n') =>
  `'${prefix}_' || translate(lpad((${n})::text, 22, 'A'), '0', 'Z')`
const hash = (salt: string, n = 'n') => `'0x' || md5('${salt}' || ${n}) || md5(${n} || '${salt}')`
/** Digits alone: the normal form of an address that has no letters. */
const customer = (n = 'n') => `'0x' || lpad((20000 + (${n}) % 20000)::text, 40, '1')`

/** The id of the copy with this number. */
export const copyId = (prefix: string, n: number) =>
  `${prefix}_${String(n).padStart(22, 'A').replaceAll('0', 'Z')}`
export const linkCode = (n: number) => String(n).padStart(12, 'B').replaceAll('0', 'Z')
export const customerAt = (n: number) => `0x${String(20_000 + (n % 20_000)).padStart(40, '1')}`
/** A payment for an order: `place` says which one of the `turn`th round; the first two are of the customer who pays often. */
export const paidAt = (turn: number, place: number) =>
  copyId('pay', ROUND * (turn % FEW) + (place < 2 ? (OFTEN[place] ?? 0) : FIRST_PAID + 6 + place))
export const undeliveredAt = (turn: number) => copyId('pay', ROUND * (turn % FEW) + 9)
/** The order that a transfer without evidence fits. */
export const orderOfTransfer = (n: number) => copyId('pay', ROUND * n)

export async function openShop(rows: number): Promise<GrowthShop> {
  await using stack = new AsyncDisposableStack()
  const t = stack.use(await openTenants())
  const proxy = stack.use(await openProxy(t))
  const operator = await proxy.signedIn(proxy.operator)
  await t.evm.mine(1_000)
  const service = await connect(stack, t.service.context.config.database)
  const bff = await connect(stack, proxy.config.database)
  const templates = await makeTemplates(t)
  const { webhook, ...made } = await makeMerchantRows(t, operator, templates.payments.at(-1) ?? '')
  await fillService(t, { client: service, rows, templates, webhook })
  await fillProxy(bff, { rows, ...made })
  while ((await foldTallies(t.service.context.db)) > 0);
  const sizes: GrowthShop['sizes'] = []
  for (const client of [service, bff]) {
    // As a database that has been running for a while: its statistics are known and its pages marked.
    await client.query('vacuum analyze')
    const { rows: tables } = await client.query<{ table: string; bytes: string; indexes: string }>(
      `select oid::regclass::text as table, pg_total_relation_size(oid) as bytes, pg_indexes_size(oid) as indexes
      from pg_class where relkind = 'r' and relnamespace::regnamespace::text in ('service', 'bff') order by 2 desc`,
    )
    for (const { table, bytes, indexes } of tables)
      sizes.push({ table, bytes: Number(bytes) / rows, indexes: Number(indexes) / rows })
  }
  const running = stack.move()
  return {
    t,
    proxy,
    operator,
    rows,
    payer: templates.payer,
    webhook,
    product: made.product,
    fileCode: made.fileCode,
    sizes,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

async function connect(stack: AsyncDisposableStack, target: DatabaseTarget): Promise<pg.Client> {
  const owner = asOwner(target)
  if (!('url' in owner)) throw new Error('This measures a Postgres server.')
  const client = new pg.Client({ connectionString: owner.url })
  await client.connect()
  stack.defer(() => client.end())
  await client.query(`set maintenance_work_mem = '512MB'`)
  return client
}

type Templates = {
  payer: PrivateKeyAccount
  transfer: string
  request: string
  /** One of each kind, in the order of `kind`. */
  payments: string[]
}

/** One real payment of each kind, each to its end. */
async function makeTemplates(t: Tenants): Promise<Templates> {
  const { a } = t
  const payTo = a.payout.evm.address
  const payer = await t.payer()
  const paid = await buildOrder(a, { from: payer.address, to: payTo, amount: 0.01 })
  await payOrder(t, payer, paid)
  const other = await t.payer()
  const late = await buildOrder(a, { from: other.address, to: payTo, amount: 0.03 })
  const lateHash = await payOrder(t, other, late, WALLET_FEES)
  const sent = await a.api.post(
    '/payment/send',
    { walletAddress: a.managed.evm, recipientAddress: other.address, amount: 0.01 },
    { Prefer: 'respond-async' },
  )
  const proof = await makeProof(t, { method: 'evm txid', payTo })
  await t.evm.mine(4)
  succeed(await receive(a, proof))
  const signed = await makeProof(t, { method: 'evm eip3009', payTo })
  let settled = false
  const settling = atFacilitator(a, 'settle', signed).finally(() => (settled = true))
  await t.until(
    () => Promise.resolve(settled),
    (done) => done,
  )
  succeed(await settling)
  const { body: received } = succeed(await a.api.get('/payments?type=received&limit=20'))
  const find = (method: (payment: unknown) => boolean) => {
    const found = listAt(received, 'payments').find(method)
    if (!found)
      throw new Error(`Expected a payment of each kind, received ${JSON.stringify(received)}`)
    return textAt(found, 'paymentId')
  }
  const isProven = (payment: unknown) => textAt(payment, 'mode') === 'received'
  const payments = [
    late.paymentId,
    textAt(succeed(sent).body, 'paymentId'),
    find((payment) => isProven(payment) && textAt(payment, 'symbol') === 'USDC'),
    find((payment) => isProven(payment) && textAt(payment, 'symbol') === 'ETH'),
    paid.paymentId,
  ]
  const { transferId: transfer } = await untilUnmatched(t, a, lateHash)
  for (const paymentId of payments.slice(1))
    await untilStatus(t, { tenant: a, paymentId }, ['finalized'])
  const { body: reading } = succeed(await a.api.get(`/refund-requests/${paid.paymentId}`))
  const asked = await a.api.post('/refund-requests', await signRefundRequest(t, payer, reading))
  return { payer, transfer, payments, request: textAt(succeed(asked).body, 'request.requestId') }
}

/** One of each thing that a merchant has beside payments. */
async function makeMerchantRows(t: Tenants, operator: TestBrowser, noted: string) {
  const ask = async (path: string, body: unknown) =>
    succeed(asReply(await operator.post(`/api${path}`, body))).body
  const hook = succeed(await t.a.api.post('/webhooks', { url: 'https://shop.example/webhooks' }))
  const webhook = textAt(hook.body, 'id')
  // Nothing is sent.
  succeed(await t.a.api.post(`/webhooks/${webhook}`, { enabled: false }))
  const file = await ask('/files', fileTerms)
  const invoice = textAt(
    await ask('/invoices', { ...INVOICE, customer: { name: 'Ana Gil', email: 'ana@example.com' } }),
    'invoice.id',
  )
  await ask('/invoices/issue', { id: invoice })
  await ask('/notes', { paymentIds: [noted], note: 'Sent with the second parcel.' })
  return {
    webhook,
    noted,
    invoice,
    link: textAt(
      await ask('/links/short', { price: { currency: 'ETH', amount: '0.01' } }),
      'link.link',
    ),
    product: textAt(await ask('/products', PRODUCT), 'product.id'),
    file: textAt(file, 'file.id'),
    fileCode: textAt(file, 'file.code'),
  }
}

type Filling = { client: pg.Client; rows: number; templates: Templates; webhook: string }

async function fillService(
  t: Tenants,
  { client, rows, templates, webhook }: Filling,
): Promise<void> {
  const { payments, transfer, request } = templates
  const { accountId } = t.a
  const age = `${2 * DAY_S} + n * ${365 * DAY_S}.0 / ${rows}`
  const template = `('{${payments.join(',')}}'::text[])[${kind}]`
  const paymentId = id('pay')
  const ofPayment = { count: rows, key: 'payment_id', template, age }
  // Nonces follow each other without a gap, as the chain is told below.
  const hostedNonce = `(n / 40) * 2 + n % 40`
  const settledNonce = `(n / 40) * 6 + n % 40 - 2`
  await withoutIndexes(client, 'service.payment', () =>
    copyRows(
      client,
      'service.payment',
      {
        ...ofPayment,
        key: 'id',
        set: {
          id: paymentId,
          amount: 't.amount + n',
          sender: `case when n % 40 in (1, 2, ${OFTEN.join(', ')}) then t.sender else ${customer()} end`,
          recipient: `case when n % 40 in (1, 2) then ${customer()} else t.recipient end`,
          status: `case when n % 40 = 0 then 'expired' else t.status end`,
          signature: `case when t.signature is not null then ${hash('s')} end`,
          fingerprint: 't.fingerprint || n',
          nonce: `case when n % 40 in (1, 2) then t.nonce + ${hostedNonce} else t.nonce end`,
          block_height: 't.block_height - n % 500',
          built_height: 't.built_height - n % 500',
          resource: `'https://shop.example/item/' || n % 1000`,
          metadata: `'{"referenceId":"order ' || n || '","description":"' || case when n % 2 = 0 then 'tea' else 'coffee' end || '"}'`,
          idempotency_key: 't.idempotency_key || n',
        },
      },
      // Directions and tallies are written by triggers.
      { triggers: true },
    ),
  )
  const [numbering] = (
    await client.query<{ last: string }>('select last::text from service.event_numbering')
  ).rows
  await withoutIndexes(client, 'service.event', async () => {
    const written = await copyRows(client, 'service.event', {
      ...ofPayment,
      set: {
        id: `nextval(pg_get_serial_sequence('service.event', 'id'))`,
        number: `${numbering?.last ?? 0} + row`,
        payment_id: paymentId,
      },
    })
    await client.query('update service.event_numbering set last = last + $1', [written])
  })
  await withoutIndexes(client, 'service.claim', () =>
    copyRows(client, 'service.claim', {
      ...ofPayment,
      set: {
        payment_id: paymentId,
        key: `split_part(t.key, ':', 1) || ':' || ${hash('s')}`,
        attempt: `case when n % 40 = 9 and n < ${Math.max(FEW * ROUND, rows / 250)} then 'gone' else t.attempt end`,
      },
    }),
  )
  const nonce = `t.nonce + case when n % 40 <= 2 then ${hostedNonce} else ${settledNonce} end`
  await copyRows(client, 'service.attempt', {
    ...ofPayment,
    set: { payment_id: paymentId, signature: hash('s'), nonce },
  })
  await copyRows(client, 'service.settlement_fee', { ...ofPayment, set: { payment_id: paymentId } })
  const some = { key: 'id', age }
  await copyRows(client, 'service.unmatched_transfer', {
    ...some,
    count: Math.max(FEW, rows / 1_000),
    template: `'${transfer}'`,
    set: {
      id: id('umt'),
      signature: hash('u'),
      sender: customer(`${ROUND} * n`),
      amount: `t.amount + ${ROUND} * n`,
      block_height: `t.block_height - (${ROUND} * n) % 500`,
    },
  })
  await copyRows(client, 'service.refund_request', {
    ...some,
    count: Math.max(FEW, rows / 500),
    template: `'${request}'`,
    set: {
      id: id(request.split('_')[0] ?? ''),
      payment_id: id('pay', `${ROUND} * (n - 1) + ${OFTEN[0]}`),
    },
  })
  await client.query(
    `insert into service.request_log (account_id, key_id, request_id, at, method, path, endpoint, status, code, duration_ms, request, response, skipped)
    select $1, (select min(id) from service.api_key where account_id = $1), 'req_' || md5(n::text), now() - make_interval(secs => n * 600000.0 / $2), 'GET', '/payments', 'paymentList',
      case when n % 50 = 0 then 400 else 200 end, case when n % 50 = 0 then 'INVALID_PARAMETERS' end, 5, null, repeat('{"success":true} ', 10), 0
    from generate_series($2::int / 10, 1, -1) n`,
    [accountId, rows],
  )
  await client.query(
    `insert into service.usage (key_id, period, starts_at, endpoint, status_class, requests)
    select (select min(id) from service.api_key where account_id = $1), 'day', date_trunc('day', now()) - make_interval(days => n % 400), 'endpoint ' || n / 400, '2xx', n
    from generate_series(1, least($2::int, 8000)) n`,
    [accountId, rows],
  )
  await client.query(
    `insert into service.webhook_delivery (endpoint_id, id, number, payment_id, type, state, attempts, next_attempt_at, retry_until, body, last_attempt_at, duration_ms, response_status, response_body, created_at)
    select $1, 'msg_' || n, n, ${paymentId}, 'payment.finalized', 'delivered', 1, at, at, repeat('{"type":"payment"} ', 30), at, 20, 200, 'ok', at
    from generate_series(1, $2::int / 10) n cross join lateral (select now() - make_interval(secs => n * 2000000.0 / $2) as at) t`,
    [webhook, rows],
  )
  // The chain has the nonces of the copies behind it, and the ledger of the wallet is opened with them.
  const { rows: wallets } = await client.query<{ address: string; last: number }>(
    `select coalesce(signer, (select sender from service.payment where id = payment_id)) as address, max(nonce)::int as last from service.attempt group by 1`,
  )
  for (const { address, last } of wallets)
    await t.evm.client.setNonce({ address: address as Hex, nonce: last + 1 })
  await client.query('delete from service.wallet_ledger')
}

type ProxyFilling = Record<'link' | 'product' | 'invoice' | 'file' | 'noted', string> & {
  rows: number
}

async function fillProxy(client: pg.Client, filling: ProxyFilling): Promise<void> {
  const { rows, link, product, invoice, file, noted } = filling
  const share = (part: number) => Math.max(FEW, Math.floor(rows / part))
  const [links, paymentId] = [share(100), id('pay')]
  const age = `${2 * DAY_S} + n * 31`
  const of = (count: number, template: string) => ({ count, template: `'${template}'`, age })
  await copyRows(client, 'bff.payment_link', {
    ...of(links, link),
    key: 'code',
    set: {
      id: id('lnk'),
      link: `translate(lpad(n::text, 12, 'B'), '0', 'Z')`,
      code: `translate(lpad(n::text, 12, 'B'), '0', 'Z')`,
      short: `jsonb_set(t.short, '{id}', to_jsonb(${id('lnk')}))`,
    },
  })
  await copyRows(client, 'bff.product', {
    ...of(share(1_000), product),
    key: 'id',
    set: { id: id('prd') },
  })
  await copyRows(client, 'bff.file_sale', {
    ...of(share(10_000), file),
    key: 'id',
    set: { id: id('fil'), code: `translate(lpad(n::text, 12, 'B'), '0', 'Z')` },
  })
  await copyRows(client, 'bff.payment_note', {
    ...of(share(20), noted),
    key: 'payment_id',
    set: { payment_id: paymentId, labels: `array['label ' || n % 50]` },
  })
  await client.query(
    `insert into bff.invoice_customer (id, name, email, used_at)
    select ${id('cus')}, 'Customer ' || n, 'c' || n || '@example.com', now() from generate_series(1, $1) n`,
    [share(500)],
  )
  await copyRows(client, 'bff.invoice', {
    ...of(links, invoice),
    key: 'id',
    set: {
      id: id('ivc'),
      sequence: '1000 + n',
      number: `'INV-' || 1000 + n`,
      customer_id: id('cus', `1 + n % ${share(500)}`),
      link_id: id('lnk'),
      paid: 'n % 10 <> 0',
    },
  })
  await client.query('set session_replication_role = replica')
  await client.query('update bff.invoice_numbering set last = 1000 + $1::int', [links])
  const fill = (into: string, select: string, count: number) =>
    client.query(
      `insert into bff.${into} select ${select} from generate_series($1::int, 1, -1) n cross join lateral (select now() - make_interval(secs => ${age}) as at) times`,
      [count],
    )
  await fill(
    'link_payment (id, link_id, request_key, payment_id, sender, status, arrival, created_at, checked_at, recorded)',
    `'lpy_' || n, ${id('lnk', `1 + n % ${links}`)}, 'key' || n, ${id('pay', '4 * n')}, ${customer()}, 'finalized', 1 + n / ${links}, at, at, true`,
    share(4),
  )
  await fill(
    'customer_profile (wallet, name, labels, note, words, updated_by, updated_at)',
    `${customer()}, 'Customer ' || n, array['label ' || n % 50], '', 'customer ' || n || ' label ' || n % 50, ${customer()}, at`,
    Math.min(share(50), 19_999),
  )
  await fill(
    'payment_contact (payment_id, email, sender, created_at, kept)',
    `${paymentId}, 'c' || n || '@example.com', ${customer()}, at, true`,
    share(20),
  )
  await fill(
    'file_purchase (payment_id, file_id, wallet, created_at, delivered_at, downloads)',
    `${paymentId}, '${file}', ${customer()}, at, at, 1`,
    share(50),
  )
  await fill(
    'session (id, cookie_hash, wallets, created_at, idle_at, expires_at)',
    `'ses_' || n, md5(n::text), array[${customer()}], at, now() + interval '1 day', now() + interval '1 day'`,
    share(100),
  )
  await fill(
    'session_payment (session_id, payment_id, sender, created_at)',
    `'ses_' || 1 + n % ${share(100)}, ${paymentId}, ${customer()}, at`,
    share(20),
  )
  await fill(
    'audit_entry (at, wallet, role, action, subject, request_id, outcome)',
    `at, ${customer()}, 'owner', 'noteWrite', ${paymentId}, 'req_' || n, 'done'`,
    share(20),
  )
  await client.query('set session_replication_role = origin')
}
