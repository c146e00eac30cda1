import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import type { Role } from '#contract/role.ts'

export const roleWords: Readonly<
  Record<Role, { label: MessageDescriptor; may: MessageDescriptor }>
> = {
  owner: { label: msg`Owner`, may: msg`Everything, also API keys and people.` },
  operator: { label: msg`Operator`, may: msg`Refunds, links, webhooks, managed payments.` },
  viewer: { label: msg`Viewer`, may: msg`Sees all payments. Changes nothing.` },
}
