import { msg } from '@lingui/core/macro'
import type { SenderReason } from '#contract/reasons.ts'
import type { ErrorRow } from './row.ts'

const change = { who: 'you', action: 'change', retry: 'after_change' } as const

/**
 * The table's part for wallets that cannot pay, regardless of their balance. A missing code does
 * not compile.
 */
export const senderReasons: Readonly<Record<SenderReason['code'], ErrorRow>> = {
  sender_is_contract: {
    ...change,
    title: msg`The wallet that pays is a contract`,
    body: msg`No key can sign for it. Pay with another wallet. Nothing was sent.`,
  },
  sender_is_program_account: {
    ...change,
    title: msg`The account that pays is not a wallet`,
    body: msg`It belongs to a program. Pay with another wallet. Nothing was sent.`,
  },
  sender_token_account_frozen: {
    ...change,
    title: msg({ message: 'The {symbol} account that pays is frozen' }),
    body: msg({
      message: 'The issuer of {symbol} froze it. Pay with another wallet. Nothing was sent.',
    }),
  },
}
