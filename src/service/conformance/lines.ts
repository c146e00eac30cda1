import type { ConformanceLine } from './lines/line.ts'
import { historyLines } from './lines/history.ts'
import { keyLines } from './lines/keys.ts'
import { limitLines } from './lines/limits.ts'
import { paymentLines } from './lines/payments.ts'
import { receiveLines } from './lines/receive.ts'
import { sendLines } from './lines/send.ts'
import { manualLines } from './lines/manual.ts'

/** Every line of the specification, in the order in which a run asks; those that HTTP cannot show say so. */
export const lines: readonly ConformanceLine[] = [
  ...keyLines,
  ...sendLines,
  ...receiveLines,
  ...historyLines,
  ...paymentLines,
  ...manualLines,
  ...limitLines,
]
