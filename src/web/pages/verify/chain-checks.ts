import { t } from '@lingui/core/macro'
import * as v from 'valibot'
import type { TokenMove } from '#chains/evm/erc20.ts'
import type { PaymentIntent } from '#chains/match.ts'
import { addressFact, amountFact, fact, listFact, type CheckFact } from '#contract/facts.ts'
import { familyOf, type Network } from '#contract/network.ts'
import type { AnyCheckFact } from '../../payment-intent/check-facts.ts'
import type { WalletPaymentIntent } from '../../payment-intent/intent.ts'
import { callRpc, RpcError } from '../../rpc/call.ts'
import { chooseNode } from '../../rpc/check-node.ts'
import type { Check } from '../../payment-view/check.ts'
import type { ProofFacts } from './proof/facts.ts'
import type { Expected } from './proof/local-checks.ts'

/** What the reader's own node shows. This browser asks it directly, without sending the proof. */
export type ChainView = {
  checks: readonly Check[]
  settled: boolean
  /** It is not on the chain, as far as the node knows. */
  absent: boolean
  transaction: string | null
  undecided: string | null
}

const NOTHING: ChainView = {
  checks: [],
  settled: false,
  absent: false,
  transaction: null,
  undecided: null,
}
/** How many blocks back the use of an authorization is searched for. */
const BLOCKS_BACK = 5_000

/** Looks up a proof's payment. Never throws for a node's fault. */
export async function readOnChain(facts: ProofFacts, expected: Expected): Promise<ChainView> {
  try {
    if (facts.body.kind === 'authorization' || facts.body.kind === 'permit') {
      const { messageBytes } = await import('./proof/message-bytes.ts')
      return await lookForMessage(messageBytes(facts.body, expected), facts, expected)
    }
    if (facts.transaction === null)
      return {
        ...NOTHING,
        undecided: t`No transaction yet.`,
      }
    return await findTransaction(facts.transaction, expected, {
      payer: facts.payer,
      memo: facts.memo,
    })
  } catch (error) {
    if (error instanceof RpcError) return { ...NOTHING, undecided: error.message }
    if (error instanceof v.ValiError)
      return { ...NOTHING, undecided: t`Unreadable answer from your RPC endpoint.` }
    throw error
  }
}

export type Known = { payer: string | null; memo: string | null }

/**
 * Looks up a transaction and compares it with the expected values; anything without an expectation
 * is not checked.
 */
export async function findTransaction(
  id: string,
  { network, asset, wallet, amountAtomic }: Expected,
  { payer, memo }: Known,
): Promise<ChainView> {
  const { url, node } = await chooseNode(network)
  if (!node.ok) return { ...NOTHING, undecided: node.problem }
  const evm = familyOf(network.network) === 'evm'
  const intent: PaymentIntent = {
    paymentId: memo ?? '',
    network: network.network,
    asset,
    sender: payer ?? (evm ? await senderOf(url, id) : ''),
    recipient: wallet,
    amountAtomic,
    maxFeeAtomic: 0n,
  }
  const chain = await import('../../rpc/read-landed.ts')
  const landed = evm
    ? await chain.readEvmLanded({ network, url }, id, intent)
    : await chain.readSolanaLanded({ network, url }, id, intent)
  if (landed.kind === 'absent') return { ...NOTHING, absent: true, transaction: id }
  if (landed.kind === 'unreadable')
    return {
      ...NOTHING,
      transaction: id,
      checks: [
        {
          name: 'plain_transfer',
          source: 'chain',
          state: 'bad',
          expected: fact('plain_payment'),
          got: { code: 'unreadable', params: { problem: landed.problem } },
          reason: 'unexpected_instruction',
        },
      ],
    }
  const reasons = {
    recipient: 'recipient_mismatch',
    amount: 'amount_mismatch',
    asset: 'asset_mismatch',
    network: 'network_mismatch',
    sender: 'payer_mismatch',
    memo: 'memo_mismatch',
    instructions: 'unexpected_instruction',
  } as const
  const comparedFields = new Set<string>([
    'recipient',
    'amount',
    'asset',
    'network',
    'instructions',
    ...(payer ? ['sender'] : []),
    ...(memo ? ['memo'] : []),
  ])
  const outcome: Check = {
    name: 'transaction',
    source: 'chain',
    state: landed.succeeded ? 'ok' : 'bad',
    expected: fact('executed'),
    got: fact(landed.succeeded ? 'executed' : 'failed'),
    ...(!landed.succeeded && { reason: 'transaction_failed' as const }),
  }
  const deep = evm ? Math.max(1, node.height - landed.blockHeight + 1) : network.confirmations
  const confirmed = !evm || deep >= network.confirmations
  const confirmations: Check = {
    name: 'confirmations',
    source: 'chain',
    state: confirmed ? 'ok' : 'open',
    expected: evm ? blocksFact(network.confirmations) : fact('confirmed'),
    got: evm ? blocksFact(deep) : fact('confirmed'),
  }
  const rows = landed.moved
    ? movedRows(landed.moved.moves, { asset, wallet, amountAtomic, payer })
    : landed.match.rows.filter(({ field }) => comparedFields.has(field))
  const checks = [
    outcome,
    ...rows.map(({ field, ok, expected, got }): Check => ({
      name: field,
      source: 'chain',
      state: ok ? 'ok' : 'bad',
      expected,
      got,
      ...(!ok && { reason: reasons[field as keyof typeof reasons] ?? 'unexpected' }),
    })),
    confirmations,
  ]
  return {
    checks,
    settled: checks.every(({ state }) => state === 'ok'),
    absent: false,
    transaction: id,
    undecided: null,
  }
}

function blocksFact(count: number): CheckFact {
  return { code: 'blocks', params: { count } }
}

type Row = { field: string; ok: boolean; expected: AnyCheckFact; got: AnyCheckFact }
type TransferTerms = Pick<Expected, 'asset' | 'wallet' | 'amountAtomic'> & Pick<Known, 'payer'>

/**
 * Tokens may arrive in any account's transaction: a facilitator's, for example. What the token
 * logged as moved to the payee is what was paid.
 */
function movedRows(
  moves: readonly TokenMove[],
  { asset, wallet, amountAtomic, payer }: TransferTerms,
): Row[] {
  const touching = moves.filter(({ from, to }) => from === wallet || to === wallet)
  const came = touching.filter(({ to }) => to === wallet)
  const total = came.reduce((sum, move) => sum + move.amountAtomic, 0n)
  const payers = [...new Set(came.map((move) => move.from))]
  const [from, ...more] = payers
  return [
    {
      field: 'recipient',
      ok: came.length > 0,
      expected: addressFact(wallet),
      got: came.length > 0 ? addressFact(wallet) : fact('another_account'),
    },
    {
      field: 'amount',
      ok: total === amountAtomic,
      expected: amountFact(amountAtomic, asset),
      got: amountFact(total, asset),
    },
    {
      field: 'asset',
      ok: true,
      expected: addressFact(asset.address),
      got: addressFact(asset.address),
    },
    ...(payer === null
      ? []
      : [
          {
            field: 'sender',
            ok: from === payer && more.length === 0,
            expected: addressFact(payer),
            got: listFact(payers.map(addressFact), fact('nobody')),
          },
        ]),
    {
      field: 'instructions',
      ok: touching.length === 1,
      expected: fact('one_transfer'),
      got:
        touching.length === 1
          ? fact('one_transfer')
          : { code: 'transfers', params: { count: touching.length } },
    },
  ]
}

async function senderOf(url: string, hash: string): Promise<string> {
  const { checksumAddress } = await import('#contract/address.ts')
  const found = v.safeParse(
    v.object({ from: v.string() }),
    await callRpc(url, 'eth_getTransactionByHash', [hash]),
  )
  return found.success ? checksumAddress(found.output.from) : ''
}

/**
 * Whether the payer's signed message was executed, by which transaction, and whether it moved what
 * it says.
 */
async function lookForMessage(
  bytes: Uint8Array,
  { payer }: ProofFacts,
  { network, asset, wallet, amountAtomic }: Expected,
): Promise<ChainView> {
  const { messageChain } = await import('../../payment-flow/message-chain.ts')
  const chain = messageChain(network)
  const parties = { sender: payer ?? '', recipient: wallet }
  const order = {
    id: '',
    createdAt: 0,
    network: network.network,
    asset,
    ...parties,
    amountAtomic,
    walletName: '',
  } satisfies WalletPaymentIntent
  const { height } = await chain.head(order)
  const built = {
    paymentId: '',
    bytes,
    lastValidBlockHeight: 0,
    deadlineAt: 0,
    builtHeight: Math.max(0, height - BLOCKS_BACK),
    nonce: null,
    maxFeeAtomic: 0n,
    digest: '',
  }
  const reading = await chain.read(order, built, { bytes: null, signature: null })
  if (reading.kind === 'absent')
    return {
      ...NOTHING,
      absent: true,
      checks: [
        {
          name: 'fresh',
          source: 'chain',
          state: 'ok',
          expected: fact('not_executed'),
          got: fact('not_executed'),
        },
      ],
    }
  if (reading.kind === 'superseded' && !reading.finalized) {
    const usedCheck: Check = {
      name: 'fresh',
      source: 'chain',
      state: 'open',
      expected: fact('not_executed'),
      got: fact('executed_or_cancelled'),
    }
    return {
      ...NOTHING,
      checks: [usedCheck],
      undecided: t`Executed or cancelled. Check the transaction.`,
    }
  }
  if (reading.kind !== 'landed')
    return { ...NOTHING, undecided: t`No result from your RPC endpoint.` }
  const paid = reading.outcome === 'paid'
  const { signature, confirmations } = reading.landed
  return {
    checks: [
      {
        name: 'transfer',
        source: 'chain',
        state: paid ? 'ok' : 'bad',
        expected: fact('signed_transfer'),
        got: fact(paid ? 'signed_transfer' : 'something_else'),
        ...(!paid && { reason: 'transaction_failed' as const }),
      },
      {
        name: 'confirmations',
        source: 'chain',
        state: reading.commitment === 'processed' ? 'open' : 'ok',
        expected: blocksFact(network.confirmations),
        got: blocksFact(confirmations),
      },
    ],
    settled: paid && reading.commitment !== 'processed',
    absent: false,
    transaction: signature,
    undecided: null,
  }
}

/** The networks of a family, for input that names no network. */
export function networksOf(networks: readonly Network[], family: 'evm' | 'solana'): Network[] {
  return networks.filter(({ network }) => familyOf(network) === family)
}
