import { plural } from '@lingui/core/macro'
import { Plural, useLingui } from '@lingui/react/macro'
import { cleanText } from '../local-data/clean-text.ts'

/** Text a stranger wrote: as text only, and where it held characters that reorder or hide, it says so. */
export function UntrustedText({ text, className }: { text: string; className?: string }) {
  const { text: clean, removed } = cleanText(text)
  const { t } = useLingui()
  return (
    <span className={className} dir="auto">
      {clean}
      {removed > 0 && (
        <span
          className="ms-1 rounded-sm bg-warn-soft px-1 text-xs text-warn-ink"
          title={t`${plural(removed, { one: '# invisible or reordering character was removed from this text.', other: '# invisible or reordering characters were removed from this text.' })}`}
        >
          <Plural one="# hidden removed" other="# hidden removed" value={removed} />
        </span>
      )}
    </span>
  )
}

/** A stranger's address on the web: a link only for http and https, and its whole text in view. */
export function UntrustedLink({ href, className }: { href: string; className?: string }) {
  if (!/^https?:\/\//i.test(href) || !URL.canParse(href))
    return <UntrustedText className={className} text={href} />
  return (
    <a
      className={`underline decoration-edge underline-offset-4 hover:decoration-current ${className ?? ''}`}
      href={href}
      rel="noopener noreferrer"
      target="_blank"
    >
      <UntrustedText text={href} />
    </a>
  )
}
