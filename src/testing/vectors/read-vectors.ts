import { createHash } from 'node:crypto'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import * as v from 'valibot'
import { inject } from 'vitest'

/** Test cases written by others. README.md names the source, the licence and the tests of each. */

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the checkouts; empty when none was named. */
    vectors: string
  }
}

/** SHA-256 of the files that are read from checkouts, as `digestOf` computes it. */
const CHECKOUT_DIGESTS: Readonly<Record<string, string>> = {
  'JSONTestSuite/test_parsing': 'd4baca945ff096d959a8c572323ec7bfce0623e15c3d6de96d2a10ff914d2f9e',
  'ethereum-tests/TransactionTests/ttAddress':
    '9f8560a9efb40f70297970be491e72ca7d7aef3bf71752835b67989738340d37',
  'ethereum-tests/TransactionTests/ttEIP1559':
    '97157c7fe963265dec8646a52a4cf4c17108bce14ec7f37af642b7df780405a1',
  'ethereum-tests/TransactionTests/ttEIP2930':
    '13175f8c62e479eda68473f20adf0b93fe0d701c78aa4d4e836674f323d881a7',
  'ethereum-tests/TransactionTests/ttGasLimit':
    '8d45f65fd84e868e06141566e6479065a52f88dfd65fa2301babe15e176e31eb',
  'ethereum-tests/TransactionTests/ttGasPrice':
    'b4d748fcc6b98467112d56f7f792ec2212afb0ce2c147a172e1b9f9b4d924bf4',
  'ethereum-tests/TransactionTests/ttNonce':
    '9886b38c6d66631d17dd4719f235d945b2270b1e554a1630d0eb1cf2b77fe806',
  'ethereum-tests/TransactionTests/ttRSValue':
    'bb001ad871bda01105bf02ba15e8e850f211865fcc18df34ed386838cfb6ef22',
  'ethereum-tests/TransactionTests/ttSignature':
    'ec424519d0b0237cb22e2ad3211b8d006523b5dff4aa63f26650a8911b68456f',
  'ethereum-tests/TransactionTests/ttVValue':
    'af0888daf5a7030ee30f851e48a062a1c43d3c8bd7424b780360ed09320bbd03',
  'ethereum-tests/TransactionTests/ttValue':
    'b9049b19e4245d72e6b682c86418d0cfa5c605a2bdb186a32b5f4f2aede466a3',
  'ethereum-tests/TransactionTests/ttWrongRLP':
    '9c2c2e5bc00dde04707c198aa48772e24bf44ab90d50983460ba4d49f127b08d',
  'rust-url/url/tests/urltestdata.json':
    'bc52af50e2946a952785ca0c256fa3e8ef675f1e7c11035b55349e6ebde36c32',
  'siwe/test/parsing_negative.json':
    '237df1e199ac551732c80fa5158c0832ab34d2d776445734cce0b54e55aee7b5',
  'siwe/test/parsing_positive.json':
    'cf6ece953c3c51ce3d16017ad961ddb880e7f6594f41d299b9953f3d62681ae5',
  'siwe/test/verification_negative.json':
    '2c95944e462a87287b21ee9007c81918d8432a8635312abed37904c2664781ca',
  'siwe/test/verification_positive.json':
    '1bd9e6752831d1e646b71a9ba2f40e54b932daa3ba5bd89f797759bbd90d7df8',
  'wycheproof/testvectors_v1/aes_gcm_test.json':
    'b91a941d9bcdbd314de717eb0cc54d9d0fb42f1868465ac98bb34173b2306e80',
  'wycheproof/testvectors_v1/ecdsa_secp256k1_sha256_p1363_test.json':
    '137c2e325f4949d33817536ec3eff8decc6db9c74d0fb94d52c1514d93e77486',
  'wycheproof/testvectors_v1/ed25519_test.json':
    '44bd312176c65bf9b0f2fdd5305f1efd55e67e761b8a215f9439cf36ee65a5e6',
}

/** Reads a vendored file, unpacked where it ends with `.gz`. */
export function readVendored<S extends v.GenericSchema>(path: string, schema: S): v.InferOutput<S> {
  const bytes = readFileSync(join(import.meta.dirname, path))
  return parseVectors(path.endsWith('.gz') ? gunzipSync(bytes) : bytes, schema)
}

/**
 * Reads a file or all files of a folder below the folder that VECTORS names: a checkout of each source at the commit in README.md.
 * @returns the bytes by path
 * @throws Error when VECTORS is not set, or the files are not those that README.md names
 */
export function readCheckout(path: string): ReadonlyMap<string, Buffer> {
  const root = inject('vectors')
  if (!root) throw new Error('VECTORS: expected the folder of the checkouts that README.md lists.')
  const files = new Map(listFiles(root, path).map((file) => [file, readFileSync(join(root, file))]))
  const digest = digestOf(files)
  if (digest !== CHECKOUT_DIGESTS[path])
    throw new Error(
      `${path}: expected the files with SHA-256 ${CHECKOUT_DIGESTS[path]}, received ${digest}.`,
    )
  return files
}

/** The same for one file of JSON. */
export function readCheckoutJson<S extends v.GenericSchema>(
  path: string,
  schema: S,
): v.InferOutput<S> {
  const bytes = readCheckout(path).get(path)
  if (!bytes) throw new Error(`${path}: expected a file.`)
  return parseVectors(bytes, schema)
}

export function parseVectors<S extends v.GenericSchema>(
  bytes: Uint8Array,
  schema: S,
): v.InferOutput<S> {
  return v.parse(schema, JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)))
}

function listFiles(root: string, path: string): string[] {
  if (!statSync(join(root, path)).isDirectory()) return [path]
  return readdirSync(join(root, path))
    .toSorted()
    .flatMap((name) => listFiles(root, `${path}/${name}`))
}

function digestOf(files: ReadonlyMap<string, Buffer>): string {
  const hash = createHash('sha256')
  for (const [path, bytes] of files) hash.update(`${path}\0${bytes.length}\0`).update(bytes)
  return hash.digest('hex')
}
