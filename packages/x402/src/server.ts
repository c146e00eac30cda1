export {
  NATIVE_ETH,
  NATIVE_SOL,
  type Asset,
  type NetworkAssets,
} from '../../../src/contract/network.ts'
export { ExactServer } from '../../../src/x402/server/exact-server.ts'
