import { msg } from '@lingui/core/macro'
import { useLingui } from '@lingui/react/macro'
import { shortAddress } from '#contract/known-address.ts'
import { CopyButton } from './CopyButton.tsx'
import { cx } from './button-class.ts'
import { Icon } from './Icon.tsx'

const nouns = {
  address: { copy: msg`Copy address`, explorer: msg`View address in explorer` },
  transaction: { copy: msg`Copy transaction`, explorer: msg`View transaction in explorer` },
  'payment id': { copy: msg`Copy payment ID`, explorer: msg`View payment in explorer` },
}

export type AddressProps = {
  /** An address, a transaction's id, or any other long identifier. */
  value: string
  /** Never shortened, in groups of four: wherever someone decides or proves something. */
  full?: boolean
  copy?: boolean
  /** An explorer's page. */
  href?: string
  /** What it is, for the copy button and the link. */
  noun?: keyof typeof nouns
  className?: string
}

export function Address({ value, full, copy, href, noun = 'address', className }: AddressProps) {
  const { t } = useLingui()
  return (
    <span className={cx('inline-flex max-w-full items-center gap-1 align-middle', className)}>
      <span
        className={cx('min-w-0 font-mono text-[13px]', full ? 'text-balance' : 'whitespace-nowrap')}
        title={full ? undefined : value}
      >
        {full ? <Groups value={value} /> : shortAddress(value)}
      </span>
      {copy && <CopyButton label={t(nouns[noun].copy)} value={value} />}
      {href && (
        <a
          aria-label={t(nouns[noun].explorer)}
          className="touch-target inline-flex size-6 shrink-0 items-center justify-center rounded-sm text-muted hover:text-ink"
          href={href}
          rel="noopener noreferrer"
          target="_blank"
        >
          <Icon name="external" size={14} />
        </a>
      )}
    </span>
  )
}

/** Gaps are drawn, not written: what is copied holds no spaces. The first and last group are those of the short form. */
function Groups({ value }: { value: string }) {
  const groups = value.match(/^(?:0x|pay_).{1,4}|.{1,4}/gu) ?? []
  return (
    <span className="break-words">
      {groups.map((group, index) => (
        <span className={cx('inline-block', index < groups.length - 1 && 'me-1')} key={index}>
          {group}
        </span>
      ))}
    </span>
  )
}

/** A short address that opens to the full one, where the page has few words. */
export function AddressDisclosure({ value }: { value: string }) {
  return (
    <details className="group">
      <summary className="touch-target inline-flex cursor-pointer list-none items-center gap-1 rounded-sm font-mono text-[13px] [&::-webkit-details-marker]:hidden">
        {shortAddress(value)}
        <Icon
          className="text-muted transition-transform [[open]>summary>&]:rotate-90"
          name="chevronRight"
          size={14}
        />
      </summary>
      <Address copy full value={value} />
    </details>
  )
}
