import { createLink } from '../links/create-link.ts'
import { describeLink } from '../links/describe-link.ts'
import type { OwnRule } from '../session/own-rule.ts'
import { requireOperator } from '../session/rule.ts'

export const linkCreate: OwnRule<'linkCreate'> = async ({ context, visitor, body }) => {
  const operator = requireOperator(visitor)
  const row = await createLink(
    context,
    body,
    operator.wallets.find((wallet) => context.config.operatorWallets.includes(wallet)) ?? '',
  )
  return { value: { link: describeLink(row, { paid: 0, pending: 0, taken: 0 }, context.now()) } }
}
