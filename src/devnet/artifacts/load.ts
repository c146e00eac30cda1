import { readFileSync } from 'node:fs'
import * as v from 'valibot'

const hex = v.custom<`0x${string}`>(
  (value) => typeof value === 'string' && /^0x[0-9a-fA-F]+$/.test(value),
)

/** A contract to deploy: code with constructor. */
const Deployable = v.object({ bytecode: hex })
/** A contract to put at its canonical address: the code as it lies on mainnet. */
const Canonical = v.object({ address: hex, codeHash: hex, runtimeCode: hex })

export const usdCoin = read('UsdCoin', Deployable)
export const wrappedEther = read('WrappedEther', Deployable)
export const permit2 = read('Permit2', Canonical)
export const exactPermit2Proxy = read('ExactPermit2Proxy', Canonical)
export const multicall3 = read('Multicall3', Canonical)

function read<S extends v.GenericSchema>(name: string, schema: S): v.InferOutput<S> {
  return v.parse(schema, JSON.parse(readFileSync(new URL(`${name}.json`, import.meta.url), 'utf8')))
}
