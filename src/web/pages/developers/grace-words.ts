import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import type { GRACE_SECONDS } from '#contract/api-key-body.ts'

export type Grace = (typeof GRACE_SECONDS)[number]

/** How long a key or a secret that was replaced is still valid. */
export const graceWords: Readonly<Record<Grace, MessageDescriptor>> = {
  0: msg`Revoke now`,
  60: msg`1 minute`,
  900: msg`15 minutes`,
  3600: msg`1 hour`,
  21600: msg`6 hours`,
  86400: msg`1 day`,
}
