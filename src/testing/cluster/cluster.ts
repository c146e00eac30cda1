import { spawn, type ChildProcess } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import * as v from 'valibot'
import { freePort } from '#devnet/options.ts'
import { findDebianProgram } from '../debian-program.ts'
import { distributionBinaries, nobody, OWNER, RUNTIME } from '../postgres.ts'
import { Links } from './links.ts'

/**
 * Three Postgres servers under Patroni with one synchronous standby, three members of etcd, and haproxy in
 * front of Postgres, of two services and of two proxies, all on this machine. Each node's ways to etcd, to
 * haproxy and to the other nodes are TCP proxies that can be cut.
 */
export const NODES = ['n1', 'n2', 'n3'] as const
export type NodeName = (typeof NODES)[number]

/** The settings of the cluster, as docs/OPERATIONS.md names them. */
const DCS = {
  ttl: 20,
  loop_wait: 2,
  retry_timeout: 5,
  // A server that has crashed is not waited for.
  primary_start_timeout: 0,
}
const POSTGRES_SETTINGS = {
  max_connections: 200,
  shared_buffers: '64MB',
  wal_keep_size: '256MB',
  // Of what was sent, what a frozen or vanished node has not confirmed.
  wal_sender_timeout: '5s',
  wal_receiver_timeout: '5s',
}

export type ClusterState = {
  leader: NodeName | undefined
  synchronous: NodeName[]
  /** All nodes run, and every standby receives the log of the leader. */
  whole: boolean
}

export class Cluster implements AsyncDisposable {
  /** The database behind haproxy, which leads to the leader. */
  readonly target: { url: string; migrationUrl: string }
  readonly urls: {
    service: string
    proxy: string
    stats: string
    patroni: Record<NodeName, string>
  }
  readonly links: Links
  readonly folder: string
  readonly #parts: Parts

  constructor(parts: Parts) {
    const { ports, folder, links } = parts
    const url = (role: string) => `postgres://${role}@127.0.0.1:${ports.haproxy.postgres}/paydesk`
    this.target = { url: url(RUNTIME), migrationUrl: url(OWNER) }
    const http = (port: number) => `http://127.0.0.1:${port}`
    this.urls = {
      service: http(ports.haproxy.service),
      proxy: http(ports.haproxy.proxy),
      stats: http(ports.haproxy.stats),
      patroni: perNode((node) => http(ports.rest[node])),
    }
    this.links = links
    this.folder = folder
    this.#parts = parts
  }

  /** By the first node that answers and is not cut off. */
  async readState(): Promise<ClusterState> {
    for (const node of NODES) {
      if (this.links.isCut(node)) continue
      const url = this.urls.patroni[node]
      const state = await askPatroni(url, this.#parts.synchronous).catch(() => undefined)
      if (state) return state
    }
    return { leader: undefined, synchronous: [], whole: false }
  }

  /** Waits until a state is so. @throws Error when it is not within the time */
  async until(
    what: string,
    withinMs: number,
    isSo: (state: ClusterState) => boolean,
  ): Promise<ClusterState> {
    const until = performance.now() + withinMs
    for (;;) {
      const state = await this.readState()
      if (isSo(state)) return state
      if (performance.now() > until) {
        const logs = NODES.map((node) => `--- ${node}\n${this.#readLog(node)}`).join('\n')
        throw new Error(
          `Not so after ${withinMs / 1000} s: ${what}. ${JSON.stringify(state)}\n${logs}`,
        )
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
  }

  untilWhole(): Promise<ClusterState> {
    return this.until('three nodes run', WHOLE_WITHIN_MS, ({ whole }) => whole)
  }

  /** Kills Postgres of a node, as where it runs out of memory; Patroni lives. */
  killPostgres(node: NodeName): void {
    process.kill(this.#readPostmaster(node), 'SIGKILL')
  }

  /** Stops Patroni of a node, and Postgres too unless it is left running; `thaw` lets both go on. */
  freeze(node: NodeName, { postgres }: { postgres: boolean }): { thaw: () => void } {
    const patroni = this.#parts.patroni[node].pid ?? 0
    const postmaster = this.#readPostmaster(node)
    const pids = [patroni, ...(postgres ? [postmaster, ...childrenOf(postmaster)] : [])]
    for (const pid of pids) process.kill(pid, 'SIGSTOP')
    const thaw = () => {
      for (const pid of pids) signal(pid, 'SIGCONT')
    }
    this.#parts.frozen.add(thaw)
    return { thaw }
  }

  /** A connection to Postgres of one node that no fault of the links touches. */
  async connectTo(node: NodeName, database = 'paydesk'): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: `postgres://postgres@127.0.0.1:${this.#parts.ports.postgres[node]}/${database}`,
      connectionTimeoutMillis: 2_000,
      query_timeout: 2_000,
    })
    client.on('error', () => {})
    await client.connect()
    return client
  }

  /** Where haproxy reaches the two services, or the two proxies. */
  portsOf(kind: 'service' | 'proxy'): readonly number[] {
    return this.#parts.ports[kind]
  }

  /** The end of what Patroni and Postgres of a node say. */
  #readLog(node: NodeName): string {
    const lines = readFileSync(join(this.folder, `${node}.log`), 'utf8')
      .trim()
      .split('\n')
    return lines.slice(-LOG_LINES).join('\n')
  }

  #readPostmaster(node: NodeName): number {
    const [pid] = readFileSync(join(this.folder, node, 'data', 'postmaster.pid'), 'utf8').split(
      '\n',
    )
    return Number(pid)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { patroni, etcd, haproxy, frozen, folder } = this.#parts
    for (const thaw of frozen) thaw()
    for (const node of NODES) this.links.join(node)
    const postmasters = NODES.flatMap((node) => {
      const file = join(folder, node, 'data', 'postmaster.pid')
      return existsSync(file) ? [this.#readPostmaster(node)] : []
    })
    await Promise.all(Object.values(patroni).map((child) => end(child)))
    // Patroni ends its Postgres; one that it did not is ended here.
    for (const pid of postmasters) if (isPostgres(pid)) signal(pid, 'SIGQUIT')
    await Promise.all([...etcd, haproxy].map((child) => end(child)))
    await this.links[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

type ByNode = Record<NodeName, number>
type Ports = {
  etcd: { client: number; peer: number }[]
  postgres: ByNode
  rest: ByNode
  service: number[]
  proxy: number[]
  haproxy: { postgres: number; service: number; proxy: number; stats: number }
}
type Parts = {
  folder: string
  synchronous: boolean
  links: Links
  ports: Ports
  etcd: ChildProcess[]
  patroni: Record<NodeName, ChildProcess>
  haproxy: ChildProcess
  frozen: Set<() => void>
}

const LOG_LINES = 30
const POLL_MS = 250
const WHOLE_WITHIN_MS = 120_000
const END_WITHIN_MS = 20_000
const PROGRAMS = {
  patroni: '/usr/bin/patroni',
  'etcd-server': '/usr/bin/etcd',
  haproxy: '/usr/sbin/haproxy',
} as const

/** Starts the cluster; resolves when it has a leader, two standbys and an empty database. */
export async function startCluster({ synchronous }: { synchronous: boolean }): Promise<Cluster> {
  const [patroniBin, etcdBin, haproxyBin] = Object.entries(PROGRAMS).map(([name, path]) => {
    const found = findDebianProgram(name, path)
    if (found === undefined)
      throw new Error(`Expected ${path}, of the Debian package ${name}: apt-get install ${name}.`)
    return found
  }) as [string, string, string]
  const user = process.getuid?.() === 0 ? nobody() : undefined
  const folder = mkdtempSync(join(tmpdir(), 'paydesk-cluster-'))
  // Postgres and Patroni run as another user, below this folder.
  chmodSync(folder, 0o755)
  const links = new Links()
  const ports = await choosePorts()
  const run = (name: string, command: string, args: string[]) => {
    const log = openSync(join(folder, `${name}.log`), 'a')
    // Ends with this process, however this one ends.
    const child = spawn('/usr/bin/setpriv', ['--pdeathsig', 'TERM', '--', command, ...args], {
      ...user,
      cwd: folder,
      stdio: ['ignore', log, log],
      // Ctrl-C reaches this process alone, which then ends the others in order.
      detached: true,
      env: { PATH: '/usr/bin:/bin', HOME: folder },
    })
    closeSync(log)
    return child
  }
  for (const path of ['.', ...NODES]) {
    mkdirSync(join(folder, path), { recursive: true })
    if (user) chownSync(join(folder, path), user.uid, user.gid)
  }

  const cluster = ports.etcd
    .map(({ peer }, index) => `e${index}=http://127.0.0.1:${peer}`)
    .join(',')
  const etcd = ports.etcd.map(({ client, peer }, index) =>
    run(
      `e${index}`,
      etcdBin,
      Object.entries({
        name: `e${index}`,
        'data-dir': join(folder, `e${index}`),
        'listen-client-urls': `http://127.0.0.1:${client}`,
        'advertise-client-urls': `http://127.0.0.1:${client}`,
        'listen-peer-urls': `http://127.0.0.1:${peer}`,
        'initial-advertise-peer-urls': `http://127.0.0.1:${peer}`,
        'initial-cluster': cluster,
        'initial-cluster-state': 'new',
        // Patroni 3.0.2 keeps a copy of what version 3 has, and held on to an old one after a frozen leader.
        'enable-v2': 'true',
        'heartbeat-interval': '250',
        'election-timeout': '2500',
      }).map(([name, value]) => `--${name}=${value}`),
    ),
  )

  for (const { client } of ports.etcd) await untilDecided(client)

  const ways = { postgres: {} as ByNode, rest: {} as ByNode }
  const patroni = {} as Record<NodeName, ChildProcess>
  for (const node of NODES) {
    ways.postgres[node] = await links.open(node, ports.postgres[node])
    ways.rest[node] = await links.open(node, ports.rest[node])
    const hosts = await Promise.all(
      ports.etcd.map(async ({ client }) => `127.0.0.1:${await links.open(node, client)}`),
    )
    const file = join(folder, `${node}.json`)
    writeFileSync(file, patroniSettings({ node, folder, ports, ways, hosts, synchronous }))
    patroni[node] = run(node, patroniBin, [file])
  }

  writeFileSync(join(folder, 'unavailable.http'), UNAVAILABLE)
  const config = join(folder, 'haproxy.cfg')
  writeFileSync(config, haproxySettings({ folder, ports, ways }))
  const haproxy = run('haproxy', haproxyBin, ['-db', '-f', config])
  const frozen = new Set<() => void>()
  const parts: Parts = { folder, synchronous, links, ports, etcd, patroni, haproxy, frozen }
  const started = new Cluster(parts)
  try {
    const { leader } = await started.untilWhole()
    if (leader) await createDatabase(started, leader)
  } catch (error) {
    await started[Symbol.asyncDispose]()
    throw error
  }
  return started
}

async function createDatabase(cluster: Cluster, leader: NodeName): Promise<void> {
  const client = await cluster.connectTo(leader, 'postgres')
  try {
    await client.query(`create role ${OWNER} login`)
    await client.query(`create role ${RUNTIME} login`)
    await client.query(`create database paydesk owner ${OWNER}`)
  } finally {
    await client.end()
  }
  const inside = await cluster.connectTo(leader)
  // What chaos:failover writes past haproxy.
  await inside.query('create table public.split_brain (id int)').finally(() => inside.end())
}

type Setup = {
  node: NodeName
  folder: string
  ports: Ports
  ways: { postgres: ByNode; rest: ByNode }
  hosts: string[]
  synchronous: boolean
}

/** JSON is YAML. */
function patroniSettings({ node, folder, ports, ways, hosts, synchronous }: Setup): string {
  return JSON.stringify({
    scope: 'paydesk',
    name: node,
    restapi: {
      listen: `127.0.0.1:${ports.rest[node]}`,
      connect_address: `127.0.0.1:${ways.rest[node]}`,
    },
    // Without the discovery of the addresses that etcd has, which lead past the links.
    etcd: { hosts, use_proxies: true },
    bootstrap: {
      dcs: {
        ...DCS,
        synchronous_mode: synchronous,
        // Without any standby, nothing is acknowledged that one server alone has.
        synchronous_mode_strict: synchronous,
        postgresql: { use_pg_rewind: true, use_slots: true, parameters: POSTGRES_SETTINGS },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'data-checksums'],
    },
    postgresql: {
      listen: `127.0.0.1:${ports.postgres[node]}`,
      connect_address: `127.0.0.1:${ways.postgres[node]}`,
      data_dir: join(folder, node, 'data'),
      bin_dir: distributionBinaries(),
      use_unix_socket: true,
      pgpass: join(folder, node, 'pgpass'),
      parameters: { unix_socket_directories: join(folder, node) },
      pg_hba: [
        'local all all trust',
        'host all all 127.0.0.1/32 trust',
        'host replication all 127.0.0.1/32 trust',
      ],
      authentication: {
        superuser: { username: 'postgres' },
        replication: { username: 'replicator' },
      },
    },
  })
}

/** What a client reads while no service answers: the service's own words for it. */
const UNAVAILABLE_BODY = JSON.stringify({
  success: false,
  error: {
    code: 'SERVICE_UNAVAILABLE',
    message: 'No payment service answers. Repeat the request later.',
  },
})
const UNAVAILABLE = [
  'HTTP/1.1 503 Service Unavailable',
  'Content-Type: application/json',
  'Cache-Control: no-store',
  'Retry-After: 1',
  `Content-Length: ${Buffer.byteLength(UNAVAILABLE_BODY)}`,
  '',
  UNAVAILABLE_BODY,
].join('\r\n')

type Front = Pick<Setup, 'folder' | 'ports' | 'ways'>

function haproxySettings({ folder, ports, ways }: Front): string {
  const { haproxy } = ports
  const errors = [502, 503, 504].map(
    (code) => `errorfile ${code} ${join(folder, 'unavailable.http')}`,
  )
  const programs = (kind: 'service' | 'proxy') => `
listen ${kind}
  bind 127.0.0.1:${haproxy[kind]}
  mode http
  option httpchk
  http-check send meth GET uri /health/live ver HTTP/1.1 hdr Host localhost
  option forwardfor
  option redispatch 1
  retries 3
  retry-on conn-failure
  timeout check 3s
  timeout tunnel 1h
  ${errors.join('\n  ')}
  default-server inter 1s fall 2 rise 1
${ports[kind].map((port, index) => `  server ${kind}${index} 127.0.0.1:${port} check`).join('\n')}
`
  return `
global
  maxconn 4000
defaults
  timeout connect 2s
  timeout check 1s
  timeout client 1h
  timeout server 1h

listen postgres
  bind 127.0.0.1:${haproxy.postgres}
  mode tcp
  option httpchk GET /primary
  http-check expect status 200
  default-server inter 1s fastinter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
${NODES.map((node) => `  server ${node} 127.0.0.1:${ways.postgres[node]} check port ${ways.rest[node]}`).join('\n')}
${programs('service')}${programs('proxy')}
listen stats
  bind 127.0.0.1:${haproxy.stats}
  mode http
  stats enable
  stats uri /
`
}

const Members = v.object({
  members: v.array(
    v.object({
      name: v.picklist(NODES),
      role: v.string(),
      state: v.string(),
      timeline: v.optional(v.number()),
    }),
  ),
})

async function askPatroni(url: string, synchronous: boolean): Promise<ClusterState> {
  const response = await fetch(`${url}/cluster`, { signal: AbortSignal.timeout(1_000) })
  const { members } = v.parse(Members, await response.json())
  const leader = members.find(({ role }) => role === 'leader')
  const standbys = members.filter(({ role }) => role !== 'leader')
  const named = members.filter(({ role }) => role === 'sync_standby').map(({ name }) => name)
  return {
    leader: leader?.name,
    synchronous: named,
    whole:
      leader?.state === 'running' &&
      standbys.length === NODES.length - 1 &&
      standbys.every(
        ({ state, timeline }) =>
          ['running', 'streaming'].includes(state) && timeline === leader.timeline,
      ) &&
      (named.length > 0 || !synchronous),
  }
}

const EtcdVersion = v.object({ etcdcluster: v.string() })

/** Patroni ends where it finds members of etcd that have not elected a leader yet. */
async function untilDecided(port: number): Promise<void> {
  const until = performance.now() + WHOLE_WITHIN_MS
  for (;;) {
    const version = await fetch(`http://127.0.0.1:${port}/version`)
      .then((response) => response.json())
      .then((body) => v.parse(EtcdVersion, body).etcdcluster)
      .catch(() => undefined)
    if (version !== undefined && /^\d/.test(version)) return
    if (performance.now() > until) throw new Error(`etcd on port ${port} has no leader: ${version}`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

async function choosePorts(): Promise<Ports> {
  const free = await Promise.all(Array.from({ length: 20 }, () => freePort()))
  const next = () => free.pop() ?? 0
  return {
    etcd: NODES.map(() => ({ client: next(), peer: next() })),
    postgres: perNode(next),
    rest: perNode(next),
    service: [next(), next()],
    proxy: [next(), next()],
    haproxy: { postgres: next(), service: next(), proxy: next(), stats: next() },
  }
}

function perNode<T>(make: (node: NodeName) => T): Record<NodeName, T> {
  return { n1: make('n1'), n2: make('n2'), n3: make('n3') }
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)
}

function isPostgres(pid: number): boolean {
  const file = `/proc/${pid}/comm`
  return existsSync(file) && readFileSync(file, 'utf8').startsWith('postgres')
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended.
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  const late = setTimeout(() => child.kill('SIGKILL'), END_WITHIN_MS)
  await gone
  clearTimeout(late)
}
