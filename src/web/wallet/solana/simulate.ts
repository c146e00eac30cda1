import { t } from '@lingui/core/macro'
import { PublicKey, VersionedTransaction, type Connection } from '@solana/web3.js'
import { decodeTransaction } from '#chains/solana/decode.ts'
import { readTokenAccount, type TokenAccount } from '#chains/solana/token-account.ts'
import { formatAmount } from '#contract/amount.ts'
import { NATIVE_SOL } from '#contract/network.ts'
import type { BalanceChange, WalletPaymentIntent, Simulation } from '../../payment-intent/intent.ts'
import { formatDigits } from '../../payment-intent/fact-values.ts'
import type { Rpc } from './connections.ts'
import { describeFailure } from './operations.ts'

/** Simulates a payment on the payer's own node, which returns the accounts' balances afterwards. */
export async function simulate(
  rpc: Rpc,
  order: WalletPaymentIntent,
  bytes: Uint8Array,
): Promise<Simulation> {
  const addresses = [
    order.sender,
    order.asset.native ? order.recipient : undefined,
    ...tokenAccounts(bytes),
  ].filter((address) => address !== undefined)
  try {
    return await rpc(async (connection) => {
      const states = await run(connection, addresses, bytes)
      if ('state' in states) return states
      if (!order.asset.native) return simulateToken(order, states, addresses)
      const changes = [order.sender, order.recipient].map((address, index) =>
        lamportsChange(index === 0 ? 'you' : 'recipient', address, states),
      )
      return { state: 'passed', changes }
    })
  } catch {
    return { state: 'unavailable', reason: t`the RPC endpoint did not answer.` }
  }
}

type State = { owner: string; lamports: number; data: Uint8Array } | undefined
type States = ReadonlyMap<string, { before: State; after: State }>

async function run(
  connection: Connection,
  addresses: readonly string[],
  bytes: Uint8Array,
): Promise<States | Simulation> {
  const before = await connection.getMultipleAccountsInfo(
    addresses.map((address) => new PublicKey(address)),
    'confirmed',
  )
  const { value } = await connection.simulateTransaction(VersionedTransaction.deserialize(bytes), {
    sigVerify: false,
    replaceRecentBlockhash: false,
    commitment: 'confirmed',
    accounts: { encoding: 'base64', addresses: [...addresses] },
  })
  if (value.err) {
    const reason = describeFailure(value.err)
    // A lagging node does not know the blockhash yet: it simulated nothing.
    if (reason === 'BlockhashNotFound')
      return { state: 'unavailable', reason: t`the RPC endpoint lags behind.` }
    return { state: 'failed', reason: `${reason}.` }
  }
  return new Map(
    addresses.map((address, index) => {
      const [info, simulated] = [before[index], value.accounts?.[index]]
      const first: State = info
        ? { owner: info.owner.toBase58(), lamports: info.lamports, data: info.data }
        : undefined
      const data = Uint8Array.from(atob(simulated?.data[0] ?? ''), (char) => char.charCodeAt(0))
      return [
        address,
        {
          before: first,
          after: simulated ? { owner: simulated.owner, lamports: simulated.lamports, data } : first,
        },
      ]
    }),
  )
}

/** The accounts between which the transaction moves a token: those of its only transfer. */
function tokenAccounts(bytes: Uint8Array): string[] {
  const decoded = decodeTransaction(bytes)
  const transfer = decoded.ok
    ? decoded.operations.find((operation) => operation.kind === 'token_transfer')
    : undefined
  return transfer ? [transfer.source, transfer.destination] : []
}

/**
 * A token account is an address like any other, and the ownership of an old one may have been
 * transferred to a third party: only the account itself shows its owner. Also, a mint may withhold
 * a part of every transfer.
 */
function simulateToken(
  order: WalletPaymentIntent,
  states: States,
  [sender = '', source = '', destination = '']: readonly string[],
): Simulation {
  const { asset, recipient, amountAtomic } = order
  const [from, to] = [read(states, source), read(states, destination)]
  if (!from.after || !to.after)
    return { state: 'unavailable', reason: t`token accounts not found.` }
  if (to.after.owner !== recipient || to.after.mint !== asset.address) {
    const owner = to.after.owner
    return {
      state: 'failed',
      reason: t`the recipient’s token account belongs to ${owner}.`,
    }
  }
  const [left, arrived] = [
    (from.before?.amountAtomic ?? 0n) - from.after.amountAtomic,
    to.after.amountAtomic - (to.before?.amountAtomic ?? 0n),
  ]
  if (left !== amountAtomic || arrived !== amountAtomic) {
    const [arrives, wanted] = [
      formatDigits(formatAmount(arrived, asset.decimals)),
      formatDigits(formatAmount(amountAtomic, asset.decimals)),
    ]
    return {
      state: 'failed',
      reason: t`only ${arrives} ${asset.symbol} of ${wanted} would arrive.`,
    }
  }
  return {
    state: 'passed',
    changes: [
      {
        who: 'you',
        address: sender,
        asset,
        beforeAtomic: from.before?.amountAtomic ?? 0n,
        afterAtomic: from.after.amountAtomic,
      },
      lamportsChange('you', sender, states),
      {
        who: 'recipient',
        address: recipient,
        asset,
        beforeAtomic: to.before?.amountAtomic ?? 0n,
        afterAtomic: to.after.amountAtomic,
      },
    ],
  }
}

function read(
  states: States,
  address: string,
): { before: TokenAccount | undefined; after: TokenAccount | undefined } {
  const { before, after } = states.get(address) ?? {}
  return { before: before && readTokenAccount(before), after: after && readTokenAccount(after) }
}

function lamportsChange(who: BalanceChange['who'], address: string, states: States): BalanceChange {
  const { before, after } = states.get(address) ?? {}
  return {
    who,
    address,
    asset: NATIVE_SOL,
    beforeAtomic: BigInt(before?.lamports ?? 0),
    afterAtomic: BigInt(after?.lamports ?? 0),
  }
}
