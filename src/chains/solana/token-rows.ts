import {
  addressFact,
  amountFact,
  fact,
  listFact,
  moneyOf,
  type MatchFact,
  type MatchItem,
} from '#contract/facts.ts'
import { NATIVE_SOL } from '#contract/network.ts'
import type { PaymentIntent, MatchRow } from '../match.ts'
import { MAX_TOKEN_ACCOUNT_RENT } from './fee.ts'
import type { Operation } from './operations.ts'
import { TOKEN_2022_PROGRAM } from './programs.ts'
import { associatedTokenAccount } from './token-account.ts'
import type { AccountOpened, SplTransfer } from './token-instructions.ts'

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
      expected: mintFact(intent, { mint: intent.asset.address }),
      got: only ? mintFact(intent, only) : fact('not_one_token_transfer'),
    },
    rent: rentRow(intent, opened, transfer),
  }
}

function senderRow({ sender }: PaymentIntent, transfers: readonly SplTransfer[]): MatchRow {
  const payers = transfers.map(
    ({ authority, source, mint, program }): { ok: boolean; item: MatchItem } => {
      const own = associatedTokenAccount({ owner: authority, mint, program }).address === source
      const item: MatchItem = own
        ? addressFact(authority)
        : { code: 'account_of_authority', params: { authority, account: source } }
      return { ok: own && authority === sender, item }
    },
  )
  const got = listFact(
    payers.map(({ item }) => item),
    fact('nobody'),
  )
  return {
    field: 'sender',
    ok: payers.length === 1 && payers.every(({ ok }) => ok),
    expected: addressFact(sender),
    got,
  }
}

type Parties = {
  transfers: readonly SplTransfer[]
  opened: readonly AccountOpened[]
  plain: readonly string[]
}

function recipientRow(intent: PaymentIntent, { transfers, opened, plain }: Parties): MatchRow {
  const { recipient, sender, asset } = intent
  const owners = transfers.map(({ destination, mint, program }) => {
    if (associatedTokenAccount({ owner: recipient, mint, program }).address === destination)
      return recipient
    return opened.find(({ account }) => account === destination)?.owner ?? null
  })
  const item = transfers.map(({ destination }, index): MatchItem => {
    const owner = owners[index] ?? null
    return owner === null
      ? { code: 'token_account_owner', params: { account: destination } }
      : addressFact(owner)
  })
  const got = listFact([...item, ...plain.map(addressFact)], fact('nobody'))
  const [only, ...more] = [...owners, ...plain]
  const ok = more.length === 0 && only === recipient && only !== sender && only !== asset.address
  return { field: 'recipient', ok, expected: addressFact(recipient), got }
}

function amountRow(
  { amountAtomic, asset }: PaymentIntent,
  transfers: readonly SplTransfer[],
  only: SplTransfer | undefined,
): MatchRow {
  const item = transfers.map(({ amountAtomic: atomic, decimals, mint }): MatchItem => {
    if (mint === asset.address) return amountFact(atomic, { symbol: asset.symbol, decimals })
    return {
      code: 'token_amount',
      params: { amountAtomic: atomic.toString(), decimals, token: mint },
    }
  })
  return {
    field: 'amount',
    ok:
      only !== undefined &&
      only.amountAtomic === amountAtomic &&
      amountAtomic > 0n &&
      only.decimals === asset.decimals,
    expected: amountFact(amountAtomic, asset),
    got: listFact(item, fact('nothing')),
  }
}

/** Only the recipient's own account, for this very transfer, may be opened with the sender's money. */
function rentRow(
  intent: PaymentIntent,
  opened: readonly AccountOpened[],
  transfer: SplTransfer | undefined,
): MatchRow {
  const expected = {
    code: 'rent_at_most',
    params: moneyOf(MAX_TOKEN_ACCOUNT_RENT, NATIVE_SOL),
  } as const
  const [account, ...more] = opened
  if (!account) return { field: 'rent', ok: true, expected, got: fact('account_exists') }
  const { payer, owner, mint, program, account: address } = account
  const meant =
    payer === intent.sender && owner === intent.recipient && mint === intent.asset.address
  const ok =
    more.length === 0 && meant && address === transfer?.destination && program === transfer.program
  return {
    field: 'rent',
    ok,
    expected,
    got: ok
      ? expected
      : { code: 'token_accounts_of', params: { owners: opened.map((each) => each.owner) } },
  }
}

/** `program`: which token program moves it. */
function mintFact(
  { asset }: PaymentIntent,
  { mint, program }: { mint: string; program?: string },
): MatchFact {
  const symbol = mint === asset.address ? asset.symbol : null
  return {
    code: 'token',
    params: { address: mint, symbol, token2022: program === TOKEN_2022_PROGRAM },
  }
}
