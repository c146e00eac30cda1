import { cx } from './button-class.ts'

/** The shape of what comes. Give it the size of the real thing by class, for example `h-5 w-32`. */
export function Skeleton({ className }: { className?: string }) {
  return (
    <span aria-hidden className={cx('block animate-pulse rounded-sm bg-neutral-soft', className)} />
  )
}
