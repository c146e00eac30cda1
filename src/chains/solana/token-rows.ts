import { formatAmount } from '#contract/amount.ts'
import { NATIVE_SOL } from '#contract/network.ts'
import type { PaymentIntent } from '../intent.ts'
import type { MatchRow } from '../match.ts'
import { MAX_TOKEN_ACCOUNT_RENT } from './fee.ts'
import type { Operation } from './operations.ts'
import { TOKEN_2022_PROGRAM } from './programs.ts'
import { associatedTokenAccount } from './token-account.ts'
import type { AccountOpened, TokenTransfer } from './token-instructions.ts'

/** The rows of a token payment that differ from those of a payment in SOL: who is paid from which account, what, and whose rent. */
export type TokenRows = Record<'sender' | 'recipient' | 'amount' | 'asset' | 'rent', MatchRow>

/**
 * Compares a token payment with the operations of a transaction. A transfer names token accounts only, so the accounts of sender and
 * recipient are derived here and compared; a lone address of somebody's choice is never taken for theirs.
 */
export function tokenRows(intent: PaymentIntent, operations: readonly Operation[]): TokenRows {
  const transfers = operations.filter((operation) => operation.kind === 'token_transfer')
  const opened = operations.filter((operation) => operation.kind === 'account_opened')
  const plain = operations.filter((operation) => operation.kind === 'transfer')
  const [transfer] = transfers
  const only = transfers.length === 1 && plain.length === 0 ? transfer : undefined
  return {
    sender: senderRow(intent, transfers),
    recipient: recipientRow(intent, { transfers, opened, plain: plain.map(({ to }) => to) }),
    amount: amountRow(intent, transfers, only),
    asset: {
      field: 'asset',
      ok: only !== undefined && only.mint === intent.asset.address && !intent.asset.native,
      expected: describeMint(intent, intent.asset.address),
      got: only ? describeMint(intent, only.mint) + (only.program === TOKEN_2022_PROGRAM ? ' (Token-2022)' : '') : 'not one transfer of a token',
    },
    rent: rentRow(intent, opened, transfer),
  }
}

function senderRow({ sender }: PaymentIntent, transfers: readonly TokenTransfer[]): MatchRow {
  const names = transfers.map(({ authority, source, mint, program }) => {
    const own = associatedTokenAccount({ owner: authority, mint, program }).address === source
    return own ? authority : `${authority}, out of the token account ${source}`
  })
  return { field: 'sender', ok: names.join() === sender, expected: sender, got: names.join(', ') || 'nobody' }
}

type Parties = { transfers: readonly TokenTransfer[]; opened: readonly AccountOpened[]; plain: readonly string[] }

function recipientRow(intent: PaymentIntent, { transfers, opened, plain }: Parties): MatchRow {
  const { recipient, sender, asset } = intent
  const names = transfers.map(({ destination, mint, program }) => {
    if (associatedTokenAccount({ owner: recipient, mint, program }).address === destination) return recipient
    return opened.find(({ account }) => account === destination)?.owner ?? `whoever owns the token account ${destination}`
  })
  const got = [...names, ...plain].join(', ') || 'nobody'
  return { field: 'recipient', ok: got === recipient && got !== sender && got !== asset.address, expected: recipient, got }
}

function amountRow({ amountAtomic, asset }: PaymentIntent, transfers: readonly TokenTransfer[], only: TokenTransfer | undefined): MatchRow {
  const words = transfers.map(({ amountAtomic: atomic, decimals, mint }) => `${formatAmount(atomic, decimals)} ${mint === asset.address ? asset.symbol : mint}`)
  return {
    field: 'amount',
    ok: only !== undefined && only.amountAtomic === amountAtomic && amountAtomic > 0n && only.decimals === asset.decimals,
    expected: `${formatAmount(amountAtomic, asset.decimals)} ${asset.symbol}`,
    got: words.join(' and ') || 'nothing',
  }
}

/** Only the recipient's own account, for this very transfer, may be opened with the sender's money. */
function rentRow(intent: PaymentIntent, opened: readonly AccountOpened[], transfer: TokenTransfer | undefined): MatchRow {
  const expected = `at most ${formatAmount(MAX_TOKEN_ACCOUNT_RENT, NATIVE_SOL.decimals)} SOL, to open the recipient’s token account`
  const [account, ...more] = opened
  if (!account) return { field: 'rent', ok: true, expected, got: 'nothing: the account is there' }
  const { payer, owner, mint, program, account: address } = account
  const meant = payer === intent.sender && owner === intent.recipient && mint === intent.asset.address
  const ok = more.length === 0 && meant && address === transfer?.destination && program === transfer.program
  return { field: 'rent', ok, expected, got: ok ? expected : `the token accounts of ${opened.map((each) => each.owner).join(', ')}` }
}

function describeMint({ asset }: PaymentIntent, mint: string): string {
  return mint === asset.address ? `${asset.symbol}, the token ${mint}` : `the token ${mint}`
}
