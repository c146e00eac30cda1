export declare const SolanaMobileWalletAdapterWalletName: string
export declare class SolanaMobileWalletAdapter {}
export declare function createDefaultAddressSelector(): unknown
export declare function createDefaultAuthorizationResultCache(): unknown
export declare function createDefaultWalletNotFoundHandler(): unknown
