/** Our mark: a P drawn as one stroke, and the line it is paid on. */
export function Mark({ size = 28 }: { size?: number }) {
  return (
    <svg aria-hidden height={size} viewBox="0 0 32 32" width={size}>
      <rect className="fill-accent" height="32" rx="8" width="32" />
      <path
        className="stroke-on-accent"
        d="M10 24V8h7.25a5.25 5.25 0 0 1 0 10.5H14"
        fill="none"
        strokeLinecap="round"
        strokeLinejoin="round"
        strokeWidth="3"
      />
      <path
        className="stroke-on-accent"
        d="M18.5 24h4"
        opacity="0.6"
        strokeLinecap="round"
        strokeWidth="3"
      />
    </svg>
  )
}
