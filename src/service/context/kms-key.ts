const ARN = /^arn:aws[a-z-]*:kms:([a-z0-9-]+):\d{12}:key\/[A-Za-z0-9-]+$/

/** Whether this names a key of AWS KMS. An alias does not do: it may be pointed to another key, which cannot unwrap what this one wrapped. */
export function isKmsKey(text: string): boolean {
  return ARN.test(text)
}

/** The region of a key of AWS KMS. @throws Error unless `isKmsKey` */
export function regionOf(keyArn: string): string {
  const region = ARN.exec(keyArn)?.[1]
  if (region === undefined) throw new Error('Expected the ARN of a key of AWS KMS.')
  return region
}
