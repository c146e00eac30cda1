/** What can be said of addresses without hashing: on its own, because every page needs it and the hashes weigh. */

/** Native currency on EVM chains (ERC-7528) and on Solana (the System Program). */
export const EVM_NATIVE = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'
export const SOLANA_NATIVE = '11111111111111111111111111111111'

/** `0x1234…abcd`: for places where the full address stands nearby. */
export function shortAddress(address: string): string {
  return address.length <= 12
    ? address
    : `${address.slice(0, address.startsWith('0x') ? 6 : 4)}…${address.slice(-4)}`
}
