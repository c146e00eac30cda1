/** The name of the wallet that a devnet adds to the page. It asks in the page itself. */
export const DEMO_WALLET = 'Demo wallet'
