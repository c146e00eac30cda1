import { Keypair, VersionedTransaction, type Connection, type PublicKey } from '@solana/web3.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readTransaction, writeTransaction, type WireMessage } from '#chains/solana/wire.ts'
import { parseJson } from '#contract/json.ts'
import type { Network } from '#contract/network.ts'
import { createPaymentId } from '#contract/payment.ts'
import { associatedTokenAccount } from '#devnet/tokens/solana.ts'
import { startSolana, type SolanaFixture } from '#testing/local-chains.ts'
import { createTokens, payInvoice, solanaPayer, withFacilitator } from '#testing/token-payers.ts'
import { alter, refusal, refused } from '#testing/proofs.ts'
import { insertTestPayment } from '#testing/service-app.ts'
import {
  eventually,
  openAccount,
  openContext,
  type OpenedContext,
} from '#testing/service-context.ts'
import { decodeBase64, encodeBase64 } from '#x402/header.ts'
import type { Requirements } from '#x402/requirements.ts'
import type { Context } from '../context/context.ts'
import { readAttempts } from '../db/attempts.ts'
import { pollOnce } from '../monitor/poll.ts'
import { buildTransaction } from '../payments/build.ts'
import { readPaymentBody } from '../payments/status.ts'
import { reconcile } from '../reconciliation/reconcile.ts'
import { describeSupported, settlePayment, verifyPayment } from '../settlement/facilitator.ts'
import { receivePayment } from '../settlement/receive.ts'

/**
 * SPL tokens that the payer signed with the official client, and whose fee a wallet of the operator
 * pays.
 */

const AMOUNT = 2_000_000n
const URL = 'https://shop.example/a'

let solana: SolanaFixture
let network: Network
let opened: OpenedContext
let context: Context
const sponsor = Keypair.generate()
const payees: Keypair[] = Array.from({ length: 24 }, () => Keypair.generate())
const payer = Keypair.generate()

beforeAll(async () => {
  solana = await startSolana({ slotTimeMs: 40 })
  const holders = [payer, sponsor, ...payees].map(({ publicKey }) => publicKey.toBase58())
  network = await createTokens(solana, holders)
  opened = await openContext([network])
  context = await withFacilitator(opened.context, opened.actor.accountId, { solana: sponsor })
})

afterAll(async () => {
  await opened?.[Symbol.asyncDispose]()
  await solana?.[Symbol.asyncDispose]()
})

/** For a payee that nobody has paid yet. */
function bill(changes: Partial<Requirements> = {}) {
  const payee = payees.pop()
  const [, usdc] = network.assets
  if (!payee || !usdc) throw new Error('no payee')
  const requirements: Requirements = {
    scheme: 'exact',
    network: network.network,
    amount: AMOUNT.toString(),
    asset: usdc.address,
    payTo: payee.publicKey.toBase58(),
    maxTimeoutSeconds: 60,
    extra: { feePayer: sponsor.publicKey.toBase58() },
    ...changes,
  }
  return { payee, requirements, payTo: payee.publicKey.toBase58() }
}

type Bill = ReturnType<typeof bill>

const pay = ({ requirements }: Bill, options: { version?: 1 | 2 } = {}) =>
  payInvoice(solanaPayer(solana, payer), requirements, options)

function receive(
  { payTo }: Bill,
  paymentProof: string,
  changes: Partial<Parameters<typeof receivePayment>[2]> = {},
) {
  return receivePayment(context, opened.actor, {
    walletAddress: payTo,
    paymentProof,
    expectedAmount: '2',
    asset: 'USDC',
    resource: URL,
    timeout: 30,
    ...changes,
  })
}

const GIVEN = 10_000_000_000n

async function gained(connection: Connection, owner: PublicKey): Promise<bigint> {
  const { value } = await connection.getTokenAccountBalance(
    associatedTokenAccount(owner),
    'confirmed',
  )
  return BigInt(value.amount) - GIVEN
}

function inputOf(header: string, requirements: Requirements) {
  return {
    x402Version: 2 as const,
    paymentPayload: parseJson(Buffer.from(header, 'base64').toString()) as Record<string, unknown>,
    paymentRequirements: requirements,
  }
}

/** The payment with its message changed and signed again by the payer. */
function rewrite(header: string, change: (message: WireMessage) => WireMessage): string {
  return alter(header, (value) => {
    const bytes = decodeBase64(String(value.payload.transaction))
    if (!bytes) throw new Error('no transaction')
    const { message, signatures } = readTransaction(bytes)
    const changed = change(message)
    const transaction = VersionedTransaction.deserialize(
      writeTransaction({
        message: changed,
        signatures: Array.from(
          { length: changed.requiredSignatures },
          (_, index) => signatures[index] ?? new Uint8Array(64),
        ),
      }),
    )
    transaction.sign([payer])
    return { ...value, payload: { transaction: encodeBase64(transaction.serialize()) } }
  })
}

test('names the fee payer', () => {
  const { kinds, signers } = describeSupported(context)
  // The official packages use this name for the only token method on Solana, and leave it out of
  // their requirements.
  expect(kinds[0]?.extra.assetTransferMethods).toEqual(['native-transfer', 'txid', 'default'])
  expect(kinds[1]?.extra).toMatchObject({ feePayer: sponsor.publicKey.toBase58() })
  expect(signers).toEqual({ 'solana:*': [sponsor.publicKey.toBase58()] })
})

test('a token is received once, its fee is the sponsor’s, and the same question gets the same payment', async () => {
  const all = bill()
  const header = await pay(all)
  const before = await solana.connection.getBalance(payer.publicKey, 'confirmed')
  const received = await receive(all, header)
  expect(received).toMatchObject({
    verified: true,
    alreadyProcessed: false,
    sender: payer.publicKey.toBase58(),
    amountAtomic: AMOUNT.toString(),
    symbol: 'USDC',
  })
  expect(await gained(solana.connection, all.payee.publicKey)).toBe(AMOUNT)
  expect(await solana.connection.getBalance(payer.publicKey, 'confirmed')).toBe(before)
  expect(await receive(all, header)).toMatchObject({
    paymentId: received.paymentId,
    verified: true,
    alreadyProcessed: true,
  })
  expect(await refusal(receive(all, header, { resource: undefined }))).toMatchObject({
    reason: 'already_used',
  })
  expect(await gained(solana.connection, all.payee.publicKey)).toBe(AMOUNT)
})

test('in version 1 as well', async () => {
  const all = bill()
  expect(await receive(all, await pay(all, { version: 1 }))).toMatchObject({ verified: true })
})

test('is verified without being broadcast, and settled once', async () => {
  const all = bill()
  const input = inputOf(await pay(all), all.requirements)
  expect(await verifyPayment(context, opened.actor, input)).toMatchObject({
    isValid: true,
    payer: payer.publicKey.toBase58(),
  })
  expect(await gained(solana.connection, all.payee.publicKey)).toBe(0n)
  const settled = await settlePayment(context, opened.actor, input)
  expect(settled).toMatchObject({ success: true, payer: payer.publicKey.toBase58() })
  expect(await settlePayment(context, opened.actor, input)).toMatchObject({
    success: false,
    errorReason: 'already_used',
    transaction: '',
  })
})

test('of many calls at once is broadcast once and granted once, whatever stands in the sponsor’s place', async () => {
  const all = bill()
  const header = await pay(all)
  // Nobody chooses the fee payer's signature: another one in its slot is the same payment.
  const twin = alter(header, (value) => {
    const bytes = decodeBase64(String(value.payload.transaction)) ?? new Uint8Array()
    return {
      ...value,
      payload: {
        transaction: encodeBase64(
          Uint8Array.from([
            ...bytes.slice(0, 1),
            ...new Uint8Array(64).fill(7),
            ...bytes.slice(65),
          ]),
        ),
      },
    }
  })
  const answers = await Promise.all(
    [header, twin, header, twin].map((proof) => receive(all, proof)),
  )
  expect(answers.filter(({ alreadyProcessed }) => !alreadyProcessed)).toHaveLength(1)
  expect(await gained(solana.connection, all.payee.publicKey)).toBe(AMOUNT)
})

test.each<[string, (all: Bill) => Promise<string>, string]>([
  [
    'another amount',
    (all) => pay({ ...all, requirements: { ...all.requirements, amount: '1' } }).then(echo(all)),
    'amount_mismatch',
  ],
  [
    'another payee',
    (all) =>
      pay({
        ...all,
        requirements: { ...all.requirements, payTo: sponsor.publicKey.toBase58() },
      }).then(echo(all)),
    'recipient_mismatch',
  ],
  [
    'a memo that was not asked for',
    (all) =>
      pay({
        ...all,
        requirements: {
          ...all.requirements,
          extra: { ...all.requirements.extra, memo: 'order-2' },
        },
      }),
    'memo_mismatch',
  ],
])('a transaction with %s is refused', async (_, make, reason) => {
  const all = bill()
  expect(await refusal(receive(all, await make(all), { memo: 'order-1' }))).toMatchObject({
    reason,
  })
  expect(await gained(solana.connection, all.payee.publicKey)).toBe(0n)
})

test('a transfer that its payer has sent already is neither verified nor settled', async () => {
  const all = bill()
  const extra = { feePayer: payer.publicKey.toBase58() }
  const header = await pay({ ...all, requirements: { ...all.requirements, extra } })
  const { payload } = JSON.parse(Buffer.from(header, 'base64').toString())
  const bytes = Buffer.from(payload.transaction, 'base64')
  const sent = await solana.connection.sendRawTransaction(bytes)
  await eventually(
    () => solana.connection.getSignatureStatuses([sent]),
    ({ value: [status] }) => status?.confirmationStatus !== undefined,
  )
  const requirements = { ...all.requirements, extra: {} }
  const input = inputOf(header, requirements)
  expect(await verifyPayment(context, opened.actor, input)).toMatchObject({
    isValid: false,
    invalidReason: 'invalid_transaction_state',
  })
  expect(await refusal(receive(all, header))).toEqual(refused('already_used', 'fresh'))
})

test('a transaction whose memo is the id of a payment pays nothing else', async () => {
  const other = createPaymentId()
  const { accountId } = opened.actor
  const url = 'https://shop.example/b'
  await insertTestPayment(context.db, { id: other, accountId, resource: url })
  for (const memo of [createPaymentId(), other]) {
    const all = bill()
    const { requirements } = all
    const header = await pay({
      ...all,
      requirements: { ...requirements, extra: { ...requirements.extra, memo } },
    })
    expect(await refusal(receive(all, header))).toMatchObject({
      reason: memo === other ? 'resource_mismatch' : 'memo_mismatch',
    })
    expect(await gained(solana.connection, all.payee.publicKey)).toBe(0n)
  }
})

test('a transaction that names an open order and that the fee payer signs is recorded as its own payment, and stops no wallet', async () => {
  const [chain] = context.chains.values()
  if (!chain) throw new Error('no chain')
  const sender = sponsor.publicKey.toBase58()
  await eventually(
    () => reconcile(context, chain, sender),
    (verdict) => verdict === 'equal',
  )
  const all = bill()
  const { paymentId: order } = await buildTransaction(context, opened.actor, {
    walletAddress: payer.publicKey.toBase58(),
    recipientAddress: all.payTo,
    amount: '2',
    asset: 'USDC',
    resource: URL,
  })
  const extra = { ...all.requirements.extra, memo: order }
  const header = await pay({ ...all, requirements: { ...all.requirements, extra } })
  const answer = await receive(all, header)
  expect(answer).toMatchObject({ verified: true })
  const paymentId = answer.paymentId ?? ''
  expect(paymentId).not.toBe(order)
  expect(await readAttempts(context.db, paymentId)).toMatchObject([
    { signer: sender, signature: answer.signature },
  ])
  await eventually(
    async () => {
      await pollOnce(context, chain, { expiredToo: true })
      return readPaymentBody(context, paymentId)
    },
    ({ status }) => status === 'finalized',
  )
  // Its money counts once, and it is not looked for without end.
  expect(await readPaymentBody(context, order)).toMatchObject({
    status: 'created',
    signature: null,
  })
  await eventually(
    async () => {
      await pollOnce(context, chain, { expiredToo: true })
      return readPaymentBody(context, order)
    },
    ({ status, signature }) => status === 'expired' && signature === null,
  )
  expect(await receive(all, header)).toMatchObject({ paymentId, alreadyProcessed: true })
  const verdict = await eventually(
    () => reconcile(context, chain, sender),
    (seen) => seen === 'equal' || seen === 'stopped',
  )
  expect(verdict).toBe('equal')
})

test('a transaction that is on its way for one account is not signed again for another', async () => {
  const [chain] = context.chains.values()
  if (!chain) throw new Error('no chain')
  const asked: string[] = []
  const lost: Context = {
    ...context,
    // Nothing arrives at the network.
    chains: new Map([
      [network.network, { ...chain, broadcast: async () => ({ accepted: true as const }) }],
    ]),
    signer: {
      ...context.signer,
      sign(request) {
        asked.push(JSON.stringify(request))
        return context.signer.sign(request)
      },
    },
  }
  const all = bill()
  const header = await pay(all)
  const body = {
    walletAddress: all.payTo,
    paymentProof: header,
    expectedAmount: '2',
    asset: 'USDC',
    resource: URL,
    timeout: 1,
  }
  expect(await receivePayment(lost, opened.actor, body)).toMatchObject({ status: 'pending' })
  // The database may roll back what was signed; the same is signed again then.
  expect(new Set(asked).size).toBe(1)
  const before = asked.length
  const other = await openAccount(context)
  await expect(receivePayment(lost, other, body)).rejects.toMatchObject({
    code: 'PAYMENT_VERIFICATION_FAILED',
    message: expect.stringContaining('being settled'),
  })
  expect(asked).toHaveLength(before)
})

/** Claims that the requested terms were accepted, regardless of what was signed. */
const echo = (all: Bill) => (header: string) =>
  alter(header, (value) => ({ ...value, accepted: { ...all.requirements } }))

const le = (value: bigint, bytes: number) =>
  Array.from({ length: bytes }, (_, index) => Number((value >> BigInt(8 * index)) & 0xffn))

test.each<[string, (message: WireMessage) => WireMessage, string]>([
  [
    'a compute limit above the cap',
    (m) => withData(m, 0, [2, ...le(60_001n, 4)]),
    'compute_limits',
  ],
  ['a price above the cap', (m) => withData(m, 1, [3, ...le(50_001n, 8)]), 'compute_limits'],
  [
    'two transfers',
    (m) => ({ ...m, instructions: [...m.instructions, ...m.instructions.slice(2, 3)] }),
    'unexpected_instruction',
  ],
  [
    'its instructions in another order',
    (m) => ({ ...m, instructions: m.instructions.toReversed() }),
    'unexpected_instruction',
  ],
  [
    'the sponsor among the accounts of an instruction',
    (m) => named(m, 0),
    'unexpected_instruction',
  ],
])('a transaction with %s is refused before the sponsor signs', async (_, change, reason) => {
  const all = bill()
  expect(await refusal(receive(all, rewrite(await pay(all), change)))).toMatchObject({
    code: 'INVALID_PAYMENT_PROOF',
    reason,
  })
  expect(await gained(solana.connection, all.payee.publicKey)).toBe(0n)
})

function withData(message: WireMessage, at: number, data: number[]): WireMessage {
  return {
    ...message,
    instructions: message.instructions.map((entry, index) =>
      index === at ? { ...entry, data: Uint8Array.from(data) } : entry,
    ),
  }
}

/** The token transfer with one more account. */
function named(message: WireMessage, account: number): WireMessage {
  return {
    ...message,
    instructions: message.instructions.map((entry, index) =>
      index === 2 ? { ...entry, accounts: [...entry.accounts, account] } : entry,
    ),
  }
}

test('a transaction that names another fee payer than the operator’s is refused', async () => {
  const all = bill()
  const stranger = Keypair.generate().publicKey.toBase58()
  const header = await pay({
    ...all,
    requirements: { ...all.requirements, extra: { feePayer: stranger } },
  })
  expect(await refusal(receive(all, header))).toEqual(refused('fee_payer_mismatch', 'fee_payer'))
})

test('an unsigned transfer is refused', async () => {
  const all = bill()
  const header = alter(await pay(all), (value) => {
    const bytes = decodeBase64(String(value.payload.transaction)) ?? new Uint8Array()
    const { message } = readTransaction(bytes)
    return {
      ...value,
      payload: {
        transaction: encodeBase64(
          writeTransaction({ message, signatures: [new Uint8Array(64), new Uint8Array(64)] }),
        ),
      },
    }
  })
  expect(await refusal(receive(all, header))).toEqual(refused('invalid_signature', 'signatures'))
})
