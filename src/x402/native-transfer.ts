import * as v from 'valibot'
import type { FieldFormat } from '#contract/reasons.ts'
import { decodeBase64 } from './header.ts'

/**
 * Native SOL that the payer signs and the service broadcasts: scheme `exact`, `assetTransferMethod: "native-transfer"`.
 * The payload's field is the one of exact on Solana: base64 of the wire transaction.
 */
export const NativeTransferPayload = v.object({
  transaction: v.pipe(
    v.string(),
    v.maxLength(2048),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const bytes = decodeBase64(dataset.value)
      if (bytes) return bytes
      addIssue({ message: 'base64' satisfies FieldFormat })
      return NEVER
    }),
  ),
})

/** Native ETH that the payer signs and the service broadcasts: `assetTransferMethod: "signed-transaction"`. */
export const SignedTransactionPayload = v.object({
  signedTransaction: v.pipe(
    v.string(),
    v.maxLength(4096),
    v.regex(/^0x(?:[0-9a-f]{2})+$/, 'lower_case_hex' satisfies FieldFormat),
  ),
})
