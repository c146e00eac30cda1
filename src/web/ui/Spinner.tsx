/** Turns while something runs. Give it a `label` where no text beside it says what. */
export function Spinner({ label, size = 16 }: { label?: string; size?: number }) {
  return (
    <span className="inline-flex" role={label ? 'status' : undefined}>
      <svg
        aria-hidden
        className="animate-spin"
        fill="none"
        height={size}
        viewBox="0 0 20 20"
        width={size}
      >
        <circle cx="10" cy="10" opacity="0.25" r="7.5" stroke="currentColor" strokeWidth="2" />
        <path
          d="M17.5 10A7.5 7.5 0 0 0 10 2.5"
          stroke="currentColor"
          strokeLinecap="round"
          strokeWidth="2"
        />
      </svg>
      {label && <span className="sr-only">{label}</span>}
    </span>
  )
}
