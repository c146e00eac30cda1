import { t } from '@lingui/core/macro'
import { describeError } from '../errors/codes.ts'
import { joinMessage } from '../errors/row.ts'

/** Why a payment cannot go on before its wallet is asked: the browser stores nothing, or anything else that failed in the page. */
export function describeBeginFailure(error: unknown): string {
  return isStorageError(error)
    ? t`This browser cannot store payments. Nothing was sent.`
    : joinMessage(describeError(error))
}

/** IndexedDB fails with these alone, or is not there at all. */
function isStorageError(error: unknown): boolean {
  return error instanceof DOMException || typeof indexedDB === 'undefined'
}
