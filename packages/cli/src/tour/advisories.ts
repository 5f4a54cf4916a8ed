/**
 * Facts about 20 reviewed advisories: ids, modules, fixes and credits. Source: the Go vulnerability
 * database, vuln.go.dev, by the Go authors, licence CC BY 4.0. Its texts are left out.
 */

export interface AdvisoryFacts {
  readonly id: string;
  readonly module: string;
  readonly cves: readonly string[];
  /** The place where the first fix can be seen. Absent if the advisory names none. */
  readonly fix?: string;
  /** The first version with the fix. Absent if none was released. */
  readonly fixed?: string;
  readonly credits: readonly string[];
}

export const ADVISORIES: readonly AdvisoryFacts[] = [
  {
    id: 'GO-2020-0003',
    module: 'github.com/revel/revel',
    cves: ['CVE-2020-36568'],
    fix: 'https://github.com/revel/revel/pull/1427',
    fixed: '1.0.0',
    credits: ['@SYM01'],
  },
  {
    id: 'GO-2020-0004',
    module: 'github.com/nanobox-io/golang-nanoauth',
    cves: ['CVE-2020-36569'],
    fix: 'https://github.com/nanobox-io/golang-nanoauth/pull/5',
    fixed: '0.0.0-20200131131040-063a3fb69896',
    credits: ['@bouk'],
  },
  {
    id: 'GO-2020-0005',
    module: 'go.etcd.io/etcd',
    cves: ['CVE-2020-15106', 'CVE-2020-15112'],
    fix: 'https://github.com/etcd-io/etcd/pull/11793',
    fixed: '0.5.0-alpha.5.0.20200423152442-f4b650b51dc4',
    credits: ['Trail of Bits'],
  },
  {
    id: 'GO-2020-0006',
    module: 'github.com/miekg/dns',
    cves: ['CVE-2017-15133'],
    fix: 'https://github.com/miekg/dns/pull/631',
    fixed: '1.0.4-0.20180125103619-43913f2f4fbd',
    credits: ['Pedro Sampaio'],
  },
  {
    id: 'GO-2020-0007',
    module: 'github.com/seccomp/libseccomp-golang',
    cves: ['CVE-2017-18367'],
    fix: 'https://github.com/seccomp/libseccomp-golang/commit/06e7a29f36a34b8cf419aeb87b979ee508e58f9e',
    fixed: '0.9.1-0.20170424173420-06e7a29f36a3',
    credits: ['@ihac'],
  },
  {
    id: 'GO-2020-0008',
    module: 'github.com/miekg/dns',
    cves: ['CVE-2019-19794'],
    fix: 'https://github.com/miekg/dns/pull/1044',
    fixed: '1.1.25-0.20191211073109-8ebf2e419df7',
    credits: [],
  },
  {
    id: 'GO-2020-0015',
    module: 'golang.org/x/text',
    cves: ['CVE-2020-14040'],
    fix: 'https://go.dev/cl/238238',
    fixed: '0.3.3',
    credits: ['@abacabadabacaba', 'Anton Gyllenberg'],
  },
  {
    id: 'GO-2020-0017',
    module: 'github.com/dgrijalva/jwt-go',
    cves: ['CVE-2020-26160'],
    fix: 'https://github.com/dgrijalva/jwt-go/commit/ec0a89a131e3e8567adcb21254a5cd20a70ea4ab',
    credits: ['@christopher-wong'],
  },
  {
    id: 'GO-2020-0019',
    module: 'github.com/gorilla/websocket',
    cves: ['CVE-2020-27813'],
    fix: 'https://github.com/gorilla/websocket/pull/537',
    fixed: '1.4.1',
    credits: ['Max Justicz'],
  },
  {
    id: 'GO-2020-0020',
    module: 'github.com/gorilla/handlers',
    cves: ['CVE-2017-20146'],
    fix: 'https://github.com/gorilla/handlers/pull/116',
    fixed: '1.3.0',
    credits: ['Evan J Johnson'],
  },
  {
    id: 'GO-2020-0021',
    module: 'github.com/gogits/gogs',
    cves: ['CVE-2014-8681'],
    fix: 'https://github.com/gogs/gogs/commit/83283bca4cb4e0f4ec48a28af680f0d88db3d2c8',
    fixed: '0.5.8',
    credits: ['Pascal Turbing', 'Jiahua (Joe) Chen'],
  },
  {
    id: 'GO-2020-0025',
    module: 'code.cloudfoundry.org/archiver',
    cves: ['CVE-2018-25046'],
    fix: 'https://github.com/cloudfoundry/archiver/commit/09b5706aa9367972c09144a450bb4523049ee840',
    fixed: '0.0.0-20180523222229-09b5706aa936',
    credits: [],
  },
  {
    id: 'GO-2020-0027',
    module: 'github.com/google/fscrypt',
    cves: ['CVE-2018-6558'],
    fix: 'https://github.com/google/fscrypt/commit/3022c1603d968c22f147b4a2c49c4637dd1be91b',
    fixed: '0.2.4',
    credits: [],
  },
  {
    id: 'GO-2020-0028',
    module: 'github.com/miekg/dns',
    cves: ['CVE-2018-17419'],
    fix: 'https://github.com/miekg/dns/commit/501e858f679edecd4a38a86317ce50271014a80d',
    fixed: '1.0.10',
    credits: ['@tr3ee'],
  },
  {
    id: 'GO-2020-0032',
    module: 'github.com/goadesign/goa',
    cves: ['CVE-2019-25073'],
    fix: 'https://github.com/goadesign/goa/pull/2388',
    fixed: '1.4.3',
    credits: ['@christi3k'],
  },
  {
    id: 'GO-2020-0034',
    module: 'github.com/artdarek/go-unzip',
    cves: ['CVE-2020-36560'],
    fix: 'https://github.com/artdarek/go-unzip/pull/2',
    fixed: '1.0.0',
    credits: [],
  },
  {
    id: 'GO-2020-0037',
    module: 'github.com/tendermint/tendermint',
    cves: ['CVE-2019-25072'],
    fix: 'https://github.com/tendermint/tendermint/pull/3430',
    fixed: '0.31.1',
    credits: ['@guagualvcha'],
  },
  {
    id: 'GO-2020-0039',
    module: 'gopkg.in/macaron.v1',
    cves: ['CVE-2020-12666'],
    fix: 'https://github.com/go-macaron/macaron/pull/199',
    fixed: '1.3.7',
    credits: ['@ev0A'],
  },
  {
    id: 'GO-2020-0041',
    module: 'github.com/unknwon/cae',
    cves: ['CVE-2020-7668'],
    fix: 'https://github.com/unknwon/cae/commit/07971c00a1bfd9dc171c3ad0bfab5b67c2287e11',
    fixed: '1.0.1',
    credits: [],
  },
  {
    id: 'GO-2020-0047',
    module: 'github.com/RobotsAndPencils/go-saml',
    cves: ['CVE-2020-36563'],
    credits: [],
  },
];
