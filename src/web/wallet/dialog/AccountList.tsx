import { Icon } from '../../ui/Icon.tsx'

/** The accounts a wallet offers, each in full: this is where someone decides which one pays. */
export function AccountList({
  addresses,
  onChoose,
}: {
  addresses: readonly string[]
  onChoose: (address: string) => void
}) {
  return (
    <ul className="space-y-2">
      {addresses.map((address) => (
        <li key={address}>
          <button
            className="flex min-h-11 w-full items-center gap-3 rounded-lg border border-line bg-surface px-3 py-2 text-start hover:bg-hover"
            onClick={() => onChoose(address)}
            type="button"
          >
            <span className="min-w-0 flex-1 font-mono text-[13px] break-all">{address}</span>
            <Icon className="shrink-0 text-muted" name="chevronRight" />
          </button>
        </li>
      ))}
    </ul>
  )
}
