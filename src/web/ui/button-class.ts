export type ButtonVariant = {
  /** One filled button a view: `primary` is the action the page is for. */
  variant?: 'primary' | 'secondary' | 'quiet' | 'danger'
  size?: 'sm' | 'md' | 'lg'
  /** As wide as its container. */
  wide?: boolean
}

const variants = {
  primary: 'border-transparent bg-accent text-on-accent hover:bg-accent-strong forced-edge',
  secondary: 'border-edge bg-surface text-ink hover:bg-hover',
  quiet: 'border-transparent bg-transparent text-muted hover:bg-hover hover:text-ink',
  danger: 'border-transparent bg-bad-fill text-on-bad hover:opacity-90 forced-edge',
}

const sizes = {
  sm: 'h-8 gap-1.5 px-2.5 text-sm',
  md: 'h-10 gap-2 px-4 text-sm',
  lg: 'h-12 gap-2 px-5 text-base',
}

/** The look of a button, for a link that acts as one. */
export function buttonClass(
  { variant = 'secondary', size = 'md', wide }: ButtonVariant = {},
  ...more: (string | undefined)[]
): string {
  return cx(
    'touch-target inline-flex shrink-0 items-center justify-center rounded-lg border font-medium whitespace-nowrap transition-colors select-none',
    'disabled:cursor-not-allowed disabled:opacity-55 aria-busy:cursor-progress',
    variants[variant],
    sizes[size],
    wide && 'w-full',
    ...more,
  )
}

/** Joins class names; what is false or missing is left out. */
export function cx(...names: (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(' ')
}
