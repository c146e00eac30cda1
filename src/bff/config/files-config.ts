export type FilesConfig = {
  /** Where buyers reach this program, without a trailing slash: proofs are bound to it. */
  publicUrl: string
  /** Of the key that seals the credentials of sources; without it none are kept. */
  keyFile?: string | undefined
  /** Keys that the operator says are lost: what they sealed stays closed. */
  lostKeys: readonly string[]
  /** The largest file that is passed on, in bytes. */
  maxBytes: number
  /** `http://127.0.0.1` may be a source too, for a trial on one machine. */
  loopback: boolean
}

/** Undefined where no files are sold. */
export function toFilesConfig(values: {
  PUBLIC_URL?: string | undefined
  SOURCE_KEY_FILE?: string | undefined
  LOST_SOURCE_KEYS: readonly string[]
  SOURCE_MAX_BYTES: number
  SOURCE_LOOPBACK?: '1' | undefined
}): FilesConfig | undefined {
  if (values.PUBLIC_URL === undefined) return undefined
  return {
    publicUrl: values.PUBLIC_URL,
    keyFile: values.SOURCE_KEY_FILE,
    lostKeys: values.LOST_SOURCE_KEYS,
    maxBytes: values.SOURCE_MAX_BYTES,
    loopback: values.SOURCE_LOOPBACK === '1',
  }
}
