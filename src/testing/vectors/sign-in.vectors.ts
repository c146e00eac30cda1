import { readCheckoutJson } from './read-vectors.ts'
import { Messages, Refused, testSignIn, Verified } from './sign-in-cases.ts'

testSignIn(
  {
    positive: readCheckoutJson('siwe/test/parsing_positive.json', Messages),
    negative: readCheckoutJson('siwe/test/parsing_negative.json', Refused),
    verified: {
      positive: readCheckoutJson('siwe/test/verification_positive.json', Verified),
      negative: readCheckoutJson('siwe/test/verification_negative.json', Verified),
    },
  },
  {
    counts: [19, 29, 14],
    notSigned: [
      'negative: malformed signature',
      'negative: wrong signature',
      'negative: invalid issuedAt',
    ],
    checksum: true,
  },
)
