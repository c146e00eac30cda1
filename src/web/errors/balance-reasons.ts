import { msg } from '@lingui/core/macro'
import type { BalanceReason } from '#contract/reasons.ts'
import type { ErrorRow } from './row.ts'

const addFunds = { who: 'you', action: 'retry', retry: 'safe' } as const

/** The table's part for balances that do not cover the payment. A missing code does not compile. Beside the parameters of the reason: `missing`, `symbol`. */
export const balanceReasons: Readonly<Record<BalanceReason['code'], ErrorRow>> = {
  amount_and_fee: {
    ...addFunds,
    title: msg`Not enough in this wallet`,
    body: msg({
      message:
        'The wallet holds {available}. The payment needs up to {required}, network fee included. It lacks {missing}: add funds or pay less. Nothing was sent.',
    }),
  },
  amount_fee_and_rent: {
    ...addFunds,
    title: msg`Not enough in this wallet`,
    body: msg({
      message:
        'The wallet holds {available} and must keep {rent}. With the network fee, the payment needs {required}. It lacks {missing}: add funds or pay less. Nothing was sent.',
    }),
  },
  network_fee: {
    ...addFunds,
    title: msg({ message: 'Not enough {symbol} for the network fee' }),
    body: msg({
      message:
        'The wallet holds {available}. The network fee is up to {required}. It lacks {missing}: add funds. Nothing was sent.',
    }),
  },
  network_fee_and_rent: {
    ...addFunds,
    title: msg({ message: 'Not enough {symbol} for the network fee' }),
    body: msg({
      message:
        'The wallet holds {available} and must keep {rent}. The network fee is up to {fee}. It lacks {missing}: add funds. Nothing was sent.',
    }),
  },
  token_amount: {
    ...addFunds,
    title: msg({ message: 'Not enough {symbol} in this wallet' }),
    body: msg({
      message:
        'The wallet holds {available}. The payment needs {required}. It lacks {missing}: add funds or pay less. Nothing was sent.',
    }),
  },
}
