import type { Routes } from './handler.ts'
import { paymentHistory } from './payment-history.ts'
import { paymentList } from './payment-list.ts'
import { paymentStatus } from './payment-status.ts'
import { paymentSummary } from './payment-summary.ts'
import { tokenInfo } from './token-info.ts'
import { transactionSend } from './transaction-send.ts'
import { transactionSubmitted } from './transaction-submitted.ts'

/** Every endpoint of the table and what answers it. */
export const routes: Routes = { transactionSend, transactionSubmitted, paymentStatus, paymentHistory, paymentList, paymentSummary, tokenInfo }
