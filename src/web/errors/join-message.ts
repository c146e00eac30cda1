import { t } from '@lingui/core/macro'

/** A title and what belongs to it as one text, parted as the reader's language parts sentences. */
export function joinMessage({ title, body }: { title: string; body: string }): string {
  return t`${title}. ${body}`
}
