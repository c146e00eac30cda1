import * as v from 'valibot'
import { readVendored } from './read-vectors.ts'
import { Messages, Refused, testSignIn, Verified } from './sign-in-cases.ts'

const Cases = v.object({
  positive: Messages,
  negative: Refused,
  verified: v.object({ positive: Verified, negative: Verified }),
})

testSignIn(readVendored('siwe/messages.json.gz', Cases), {
  counts: [8, 5, 5],
  notSigned: [
    'negative: expired message',
    'negative: malformed signature',
    'negative: wrong signature',
  ],
  checksum: false,
})
