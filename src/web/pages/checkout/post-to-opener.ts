/** What a payment page tells the window that opened it; public/button.js reads it. */
export type OpenerMessage = {
  /** The payment is complete, or its payer wants to go back to the shop. */
  type: 'paydesk:paid' | 'paydesk:back'
  /** The last part of the link's address. */
  link: string
  paymentId: string
  returnTo: string
}

/**
 * Tells the window that opened this page. Only a page of the origin that the seller registered with the link can read it: any other page that
 * opens a payment link learns nothing.
 */
export function postToOpener(message: OpenerMessage): void {
  const opener: Pick<Window, 'postMessage'> | null = window.opener
  opener?.postMessage(message, new URL(message.returnTo).origin)
}
