// Stands in for @solana-mobile/wallet-adapter-mobile, which pulls react-native (800 packages) into the install.
// wallet-adapter-react offers it on Android browsers without an extension; there Paydesk links into the wallet's own browser instead.
export const SolanaMobileWalletAdapterWalletName = 'Mobile Wallet Adapter'
export class SolanaMobileWalletAdapter {
  constructor() {
    throw new Error('Mobile Wallet Adapter is not part of this build.')
  }
}
export const createDefaultAddressSelector = () => ({ select: async (addresses) => addresses[0] })
export const createDefaultAuthorizationResultCache = () => ({
  clear: async () => {},
  get: async () => undefined,
  set: async () => {},
})
export const createDefaultWalletNotFoundHandler = () => async () => {}
