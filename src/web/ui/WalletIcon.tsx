import { cx } from './button-class.ts'
import { Icon } from './Icon.tsx'

/** A wallet's own picture, shown as an image and never as markup; ours where it has none. The name stands beside it. */
export function WalletIcon({ icon, large }: { icon: string | undefined; large?: boolean }) {
  const size = large ? 'size-9 rounded-lg' : 'size-5 rounded-sm'
  if (icon) return <img alt="" className={size} src={icon} />
  return (
    <span
      className={cx('inline-flex items-center justify-center bg-neutral-soft text-muted', size)}
    >
      <Icon name="wallet" size={large ? 20 : 14} />
    </span>
  )
}
