import { announceEvm } from './evm.ts'
import { registerSolana } from './solana.ts'

/** A wallet for trying out, in place of a browser extension: real keys of this machine, real signatures, both families. */
announceEvm()
registerSolana()
