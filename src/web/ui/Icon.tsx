/** Our own line icons on a 20 px grid. Each is one path; colour and width come from the text around it. */
const paths = {
  overview: 'M3.5 11.5 10 4.5l6.5 7M5.5 10v6h9v-6',
  payments: 'M4 6.5h12m0 0-2.5-2.5M16 6.5 13.5 9M16 13.5H4m0 0L6.5 11M4 13.5 6.5 16',
  pay: 'M16.5 3.5 9 11m7.5-7.5-5 13-2.5-5.5L3.5 8.5z',
  people:
    'M7.500 9.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5M3 16c0-2.500 2-4 4.500-4s4.500 1.500 4.500 4m1-6.800a2.300 2.300 0 0 0 0-4.400m1.500 7.600c1.600.500 2.500 1.800 2.500 3.600',
  person: 'M10 9.500a3 3 0 1 0 0-6 3 3 0 0 0 0 6M4 16.500c0-3 2.500-5 6-5s6 2 6 5',
  settings: 'M4 6h6m4 0h2M4 14h2m4 0h6M12 4v4M8 12v4',
  wallet: 'M4 6.5h12v9H4zM4 6.5V5a1 1 0 0 1 1-1h9M13 11h.01',
  check: 'm4.5 10.5 3.5 3.5 7.5-8',
  checkDouble: 'm2.5 10.5 3.5 3.5 7-8m-2.5 7 1 1 7-8',
  cross: 'm5.5 5.5 9 9m0-9-9 9',
  clock: 'M10 5.5V10l3 2M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14',
  hourglass:
    'M6 3.5h8M6 16.5h8M7 3.5c0 4 6 4.5 6 6.5s-6 2.5-6 6.5m6-13c0 4-6 4.5-6 6.5s6 2.5 6 6.5',
  warning: 'M10 8v3.5m0 2.5v.01M10 3.5 17 16H3z',
  info: 'M10 9.5V14m0-7.5v.01M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14',
  question:
    'M8 8a2 2 0 1 1 2.8 1.8c-.6.3-.8.7-.8 1.4m0 2.3v.01M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14',
  back: 'M4.5 8.5 8 5m-3.5 3.5L8 12M4.5 8.5H12a4 4 0 0 1 0 8H9',
  copy: 'M7.5 7.5h8v8h-8zM12.5 7.5v-3h-8v8h3',
  external: 'M8 5H5v10h10v-3M11 4.5h4.5V9M15 5l-6 6',
  search: 'm13 13 3.5 3.5M8.75 14a5.25 5.25 0 1 0 0-10.5 5.25 5.25 0 0 0 0 10.5',
  chevronDown: 'm5.5 8 4.5 4.5L14.5 8',
  chevronRight: 'm8 5.5 4.5 4.5L8 14.5',
  arrowLeft: 'M16 10H4.5m0 0L9 5.5M4.5 10 9 14.5',
  arrowIn: 'M14.5 5.5 6 14m0 0h6m-6 0V8',
  arrowOut: 'M5.5 14.5 14 6m0 0H8m6 0v6',
  sun: 'M10 13a3 3 0 1 0 0-6 3 3 0 0 0 0 6m0-10v1.5m0 11V17m7-7h-1.5m-11 0H3m12-5-1 1M6 14l-1 1m10 0-1-1M6 6 5 5',
  moon: 'M16 11.5A6.5 6.5 0 0 1 8.5 4 6.5 6.5 0 1 0 16 11.5',
  system: 'M3.5 4.5h13v8.5h-13zM7.5 16.5h5M10 13v3.5',
  offline:
    'M3.5 3.5l13 13M6 11a6 6 0 0 1 2.5-1.4M3.5 8.5A9.5 9.5 0 0 1 6 6.8m3-.8a9.5 9.5 0 0 1 7.5 2.5m-3 2.5-.5-.4M10 15v.01',
  menu: 'M4 6h12M4 10h12M4 14h12',
  more: 'M5 9.500a.500.500 0 1 0 0 1 .500.500 0 0 0 0-1m5 0a.500.500 0 1 0 0 1 .500.500 0 0 0 0-1m5 0a.500.500 0 1 0 0 1 .500.500 0 0 0 0-1',
  shield: 'M10 3.5 4.5 5.5v4c0 3.5 2.3 5.8 5.5 7 3.2-1.2 5.5-3.5 5.5-7v-4z',
  lock: 'M5.5 9h9v7h-9zM7.500 9V6.500a2.500 2.500 0 0 1 5 0V9',
  qr: 'M4 4h4.500v4.500H4zM11.500 4H16v4.500h-4.500zM4 11.500h4.500V16H4zM11.500 11.500h1.500v1.500h-1.500zM16 11.500h-.010M14.500 14.500H16V16h-1.500zM11.500 16h.010',
  link: 'M8.500 11.500a3 3 0 0 0 4.200 0l2.400-2.400a3 3 0 1 0-4.200-4.200l-1 1m1.600 2.600a3 3 0 0 0-4.200 0l-2.400 2.400a3 3 0 1 0 4.200 4.200l1-1',
  table: 'M4 5h12v10H4zM4 8.5h12M8.5 8.5V15',
  bars: 'M5 15.5v-5m5 5v-11m5 11v-7',
  print: 'M6.5 7.500V3.500h7v4M6.500 14H4V7.500h12V14h-2.500M6.500 11.500h7v5h-7z',
  download: 'M10 3.500v9m0 0 3.500-3.500M10 12.500 6.500 9M4 16h12',
  code: 'm7.500 6-4 4 4 4m5-8 4 4-4 4',
  logout: 'M8.5 16H5V4h3.5M9 10h7.5m0 0-3-3m3 3-3 3',
  eyeOff:
    'M4 4l12 12M8.3 8.4a2.3 2.3 0 0 0 3.2 3.3M6 6.5C4.300 7.600 3.200 9.300 3 10c.5 1.500 3 5 7 5 1.300 0 2.500-.400 3.500-1M9 5.100c.300-.100.700-.100 1-.100 4 0 6.500 3.500 7 5-.200.600-.800 1.600-1.700 2.600',
  refresh: 'M15.500 6.500v-3m0 3h-3m3 0A6.500 6.500 0 1 0 16.500 10',
} as const

export type IconName = keyof typeof paths

export function Icon({
  name,
  size = 16,
  className,
}: {
  name: IconName
  size?: 12 | 14 | 16 | 20 | 24
  className?: string
}) {
  return (
    <svg
      aria-hidden
      className={className}
      fill="none"
      focusable="false"
      height={size}
      stroke="currentColor"
      strokeLinecap="round"
      strokeLinejoin="round"
      strokeWidth={size <= 14 ? 1.9 : 1.6}
      viewBox="0 0 20 20"
      width={size}
    >
      <path d={paths[name]} />
    </svg>
  )
}
