import { cx } from '../../ui/cx.ts'
import { Icon } from '../../ui/Icon.tsx'

/** The picture of sent or received; the word stands beside it. */
export function Direction({ type }: { type: 'sent' | 'received' }) {
  return (
    <span className={cx('inline-flex size-8 shrink-0 items-center justify-center rounded-full', type === 'received' ? 'bg-good-soft text-good-ink' : 'bg-neutral-soft text-neutral-ink')}>
      <Icon name={type === 'received' ? 'arrowIn' : 'arrowOut'} />
    </span>
  )
}
