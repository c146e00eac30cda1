/** The id by which dialog, memory and stack know a wallet at the other end of WalletConnect. */
export const WALLET_CONNECT = 'walletConnect'
