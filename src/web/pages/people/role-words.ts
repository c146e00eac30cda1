import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import type { Role } from '#contract/role.ts'

export const roleWords: Readonly<
  Record<Role, { label: MessageDescriptor; may: MessageDescriptor }>
> = {
  owner: { label: msg`Owner`, may: msg`Does everything, including API keys and people.` },
  operator: {
    label: msg`Operator`,
    may: msg`Sends refunds and managed payments. Manages links, products, invoices and webhooks.`,
  },
  viewer: { label: msg`Viewer`, may: msg`Sees all payments. Changes nothing.` },
}
